"""Statements to be found again among very many, and questions about them in other words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Needle:
    """A statement, and a question about it."""

    statement: str
    question: str


NEEDLES = tuple(
    Needle(statement=statement, question=question)
    for statement, question in (
        (
            "The spare house key lies under the third flowerpot",
            "where is the second key for the house hidden?",
        ),
        ("Grandmother's violin was sold at an auction in Vienna", "who bought grandma's old violin?"),
        ("Anna is allergic to peanuts and carries an injector", "does Anna have a nut allergy?"),
        ("The lighthouse keeper retires after forty winters", "when does the man at the lighthouse stop?"),
        ("Our submarine tour was cancelled because of a storm", "why did we not go on the submarine?"),
        ("The beehives were moved to the orchard behind the church", "where are the bees kept?"),
        ("Marco proposed marriage on top of a Ferris wheel", "where did Marco ask her to marry him?"),
        ("The pharmacy on Elm Street closes at nine in the evening", "when does the drugstore on Elm shut?"),
        (
            "Her thesis is about glaciers melting in Patagonia",
            "what does she research about ice and climate?",
        ),
        ("The parrot learned to imitate the doorbell", "which sound can the parrot make?"),
        ("Dad keeps his passport in the piano stool", "where is my father's passport?"),
        ("The bakery burned down during the carnival parade", "what caught fire at the carnival?"),
        ("He broke his ankle while skiing in Norway", "which winter sports injury did he suffer?"),
        ("The twins were born in a taxi on a snowy night", "where did the twins come into this world?"),
        ("She practises calligraphy with a goose feather", "what does she do calligraphy with?"),
        ("The old cinema became a climbing gym", "what was done with the disused cinema?"),
    )
)

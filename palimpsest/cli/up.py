"""`palimpsest up`: the embedded suite in this process."""

from __future__ import annotations

from pathlib import Path

import click

from palimpsest.cli.failure import Failure
from palimpsest.cli.output import say
from palimpsest.endpoint import API_KEY_FILE, DATA_VARIABLE, default_data_dir

DEFAULT_PORT = 7777


@click.command("up")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    envvar=DATA_VARIABLE,
    help="The folder that holds everything; made if missing.  [default: the platform's data folder]",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="0: a free one."
)
@click.option(
    "--http-port",
    type=click.IntRange(0, 65535),
    help="Where JSON over HTTP is served; 0: a free one.  [default: 7778, or a free one where that is taken]",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    envvar="PALIMPSEST_LOG_LEVEL",
    help="The least level that is logged, as JSON lines on standard error.",
)
@click.option("--metrics-port", type=click.IntRange(1, 65535), help="Serve Prometheus metrics there.")
@click.option(
    "--model",
    "--model-dir",
    "model",
    type=click.Path(path_type=Path),
    help="Another embedding model's folder.",
)
@click.option(
    "--next-model",
    "--next-model-dir",
    "next_model",
    type=click.Path(path_type=Path),
    help="The folder of a model to change to: it is served as soon as everything is indexed by it.",
)
def command(
    data: Path | None,
    host: str,
    port: int,
    http_port: int | None,
    log_level: str,
    metrics_port: int | None,
    model: Path | None,
    next_model: Path | None,
) -> None:
    """Run the whole suite on this machine until it is interrupted."""
    try:
        from services import embedded
        from services.kit.errors import StartupError
        from services.kit.logs import configure_logging
    except ImportError as error:
        raise Failure(
            f"the suite is not installed (no module {error.name}); install palimpsest[embedded]"
        ) from error
    folder = data or default_data_dir()
    configure_logging(log_level)

    def announce(target: str, url: str) -> None:
        say(f"palimpsest serves at {target}; its data is in {folder}, the key in {API_KEY_FILE} there")
        say(f"JSON over HTTP: {url}")

    try:
        embedded.run(
            folder,
            host=host,
            port=port,
            model_dir=model,
            next_model_dir=next_model,
            metrics_port=metrics_port,
            http_port=http_port,
            on_ready=announce,
        )
    except StartupError as error:
        raise Failure(str(error)) from error

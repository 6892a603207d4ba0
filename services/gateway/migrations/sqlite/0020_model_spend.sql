-- What calls of models took: the total of each process, by day (UTC), tier and model (G-5).
CREATE TABLE model_spend (
    tenant TEXT NOT NULL,
    day TEXT NOT NULL,
    tier TEXT NOT NULL,
    model TEXT NOT NULL,
    reporter_id TEXT NOT NULL,
    calls INTEGER NOT NULL,
    estimated_calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    micros INTEGER NOT NULL, -- of the currency
    PRIMARY KEY (tenant, day, tier, model, reporter_id)
) WITHOUT ROWID;

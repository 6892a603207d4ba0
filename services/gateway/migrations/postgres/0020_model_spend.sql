-- What calls of models took: the total of each process, by day (UTC), tier and model (G-5).
CREATE TABLE model_spend (
    tenant TEXT COLLATE "C" NOT NULL,
    day TEXT COLLATE "C" NOT NULL,
    tier TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    reporter_id TEXT COLLATE "C" NOT NULL,
    calls BIGINT NOT NULL,
    estimated_calls BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    micros BIGINT NOT NULL, -- of the currency
    PRIMARY KEY (tenant, day, tier, model, reporter_id)
) PARTITION BY HASH (tenant);
SELECT palimpsest_partition('model_spend');

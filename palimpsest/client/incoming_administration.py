"""Messages about jobs, the server and API keys as values of the client."""

from __future__ import annotations

from palimpsest import models
from palimpsest.client import names
from palimpsest.client.incoming import time_of
from palimpsest.common.v1 import jobs_pb2
from palimpsest.gateway.v1 import administration_pb2


def job(proto: jobs_pb2.Job) -> models.Job:
    """A job."""
    return models.Job(
        id=proto.id,
        type=proto.type,
        agent_id=proto.agent_id,
        subject=proto.subject,
        state=names.JOB_STATES.name(proto.state),
        attempt=proto.attempt,
        max_attempts=proto.max_attempts,
        progress=proto.progress,
        error=proto.error,
        create_time=time_of(proto, "create_time"),
        update_time=time_of(proto, "update_time"),
        finish_time=time_of(proto, "finish_time"),
        not_before_time=time_of(proto, "not_before_time"),
        lease_expire_time=time_of(proto, "lease_expire_time"),
        result_ids=tuple(proto.result_ids),
        revision=proto.revision,
        engine=proto.engine,
    )


def _job_counts(proto: jobs_pb2.JobCounts) -> models.JobCounts:
    return models.JobCounts(
        queued=proto.queued,
        running=proto.running,
        failed=proto.failed,
        dead=proto.dead,
        succeeded=proto.succeeded,
        cancelled=proto.cancelled,
    )


def job_update(proto: administration_pb2.WatchJobsResponse) -> models.JobUpdate:
    """Jobs that changed."""
    return models.JobUpdate(jobs=tuple(job(each) for each in proto.jobs), counts=_job_counts(proto.counts))


def status(proto: administration_pb2.GetStatusResponse) -> models.Status:
    """What the server is."""
    return models.Status(
        version=proto.version,
        profile=proto.profile,
        model_name=proto.model_name,
        model_revision=proto.model_revision,
        model_dimension=proto.model_dimension,
        jobs=_job_counts(proto.jobs),
    )


def api_key(proto: administration_pb2.ApiKey) -> models.ApiKey:
    """A key without its secret."""
    return models.ApiKey(
        id=proto.id,
        display_name=proto.display_name,
        role=names.KEY_ROLES.name(proto.role),
        agent_ids=tuple(proto.agent_ids),
        create_time=time_of(proto, "create_time"),
        expire_time=time_of(proto, "expire_time"),
        revoke_time=time_of(proto, "revoke_time"),
        rotate_time=time_of(proto, "rotate_time"),
        previous_secret_expire_time=time_of(proto, "previous_secret_expire_time"),
    )


def key_change(proto: administration_pb2.ApiKeyChange) -> models.KeyChange:
    """Who did what to which key."""
    return models.KeyChange(
        key_id=proto.key_id,
        kind=names.KEY_CHANGES.name(proto.kind),
        subject=proto.subject,
        time=time_of(proto, "time"),
    )

import { type CreationId, type NoticeId, parseCreationId, parseNoticeId } from '../values/ids.ts';
import { isKnownVersion, type Schema } from '../values/runtime.ts';

/** What the states of an execution pass on: ids only, because the history keeps every input. */
export interface Payload {
  readonly creation_id: string;
  /** The version of the schema (service/values/runtime.ts). Absent when an older release made the record. */
  readonly v?: number;
  /** The renderer's index, which only the state machine reads. An older release started without it. */
  readonly renderer?: string;
  /** The token of the task, in the machine whose tasks wait until a token ends them. */
  readonly task_token?: string;
  /** The input of the execution, in the same machine. An older release began it without this field. */
  readonly input?: Pick<Payload, 'v'>;
  /** The Catch of the state machine sets this on the way to the refund. */
  readonly failure?: { readonly Error?: string };
}

export interface NoticePayload {
  readonly notice_id: string;
}

/** Throws when the payload names no notice: the service did not start such an execution. */
export function noticeIdOf(payload: NoticePayload): NoticeId {
  const id = parseNoticeId(payload.notice_id);
  if (!id) throw new Error('the payload has no notice_id');
  return id;
}

/** Throws when the payload names no creation: the service did not start such an execution. */
export function creationIdOf(payload: Payload): CreationId {
  const id = parseCreationId(payload.creation_id);
  if (!id) throw new Error('the payload has no creation_id');
  return id;
}

/** An error that the state machine knows by name and retries. Its text is fixed: the history keeps it. */
export class WorkflowError extends Error {
  constructor(
    name:
      | 'StillRunning'
      | 'CommitBusy'
      | 'RefundBusy'
      | 'WebhookNotDelivered'
      | 'NewerRelease'
      | 'EndedMeanwhile',
    message: string,
  ) {
    super(message);
    this.name = name;
  }
}

/** The creation was ended while its renderer worked, such as by a cancel. The renderer stops. */
export class EndedMeanwhile extends WorkflowError {
  constructor() {
    super('EndedMeanwhile', 'the creation has ended meanwhile');
  }
}

interface KnownSchema {
  readonly schema: Schema;
}

/** Throws NewerRelease after a rollback: nothing is done until a release understands the record. */
export function requireKnownRelease({ v }: { readonly v?: number }, { schema }: KnownSchema): void {
  if (!isKnownVersion(v, schema))
    throw new WorkflowError('NewerRelease', 'a newer release has accepted this creation');
}

import { parseCreationId, type CreationId } from '../../core/ids.ts';

/** What an execution passes on: ids only, since its history keeps every input. */
export interface Payload {
  readonly creation_id: string;
  /** Set by the Catch that leads to the refund. */
  readonly failure?: { readonly Error?: string };
}

/** Throws when the payload names no creation: such an execution was not started by us. */
export function creationIdOf(payload: Payload): CreationId {
  const id = parseCreationId(payload.creation_id);
  if (!id) throw new Error('the payload has no creation_id');
  return id;
}

/** An error whose name is its remedy in the state machine. Its text is fixed: it enters the history. */
export class Remedy extends Error {
  constructor(name: 'StillRunning' | 'CommitBusy' | 'RefundBusy' | 'WebhookNotDelivered', message: string) {
    super(message);
    this.name = name;
  }
}

/**
 * The lines of the log: each event, and the members of its line. `?` marks a member that some of the lines have. A line
 * also has the ids of what runs: of the request, the account, the creation or the execution (logWith).
 */
export interface LogLines {
  account_not_settled: 'accountId';
  action_end_not_noted: 'action' | 'error';
  answer_not_noted: 'creationId' | 'error';
  attempt_not_noted: 'error';
  books_audit_lost: 'day';
  books_audit_part: 'isFinished' | 'accounts' | 'creations' | 'rows' | 'differences' | 'unsettled' | 'day';
  books_audited:
    | 'accounts'
    | 'creations'
    | 'rows'
    | 'differences'
    | 'unsettled'
    | 'day'
    | 'startedAt'
    | 'isWhole';
  books_out_of_balance: 'accountId' | 'count' | 'differences';
  callback_received: 'provider' | 'outcome' | 'millis';
  callback_refused: 'provider' | 'why';
  callbacks_not_ready: 'provider' | 'error';
  canary_failed: 'step' | 'why';
  canary_succeeded: 'millis';
  charge_conflict: 'creationId';
  content_erased: 'byAge' | 'ended' | 'failed';
  copy_attempted: 'attempt' | 'outcome' | 'millis';
  copy_not_started: 'creationId' | 'error';
  creation_accepted:
    | 'creationId'
    | 'accountId'
    | 'executionId'
    | 'model'
    | 'costMicros'
    | 'started'
    | 'acceptMillis';
  creation_completed: 'millis';
  creation_erased: 'creationId' | 'accountId' | 'by';
  creation_failed: 'failure' | 'refundedMicros';
  creation_parked: never;
  creation_past_deadline: never;
  creation_recovered: 'recovery';
  creation_recovered_again: 'recovery';
  endpoint_not_noted: 'accountId' | 'error';
  erasure_not_ended: 'creationId' | 'error';
  health_not_noted: 'error';
  health_not_read: 'error';
  image_not_stored: 'error';
  images_left_to_second_pass: 'creationId' | 'accountId';
  invitation_email_refused: 'error';
  invitation_taken_up: 'personId' | 'accountId';
  issuer_unavailable: 'why' | 'cause';
  job_not_cancelled: 'provider' | 'error';
  job_not_noted: 'provider' | 'error';
  key_use_not_noted: 'error';
  lease_let_go: 'step';
  lease_not_renewed: 'error';
  notice_recovered: 'recovery' | 'started';
  notice_told: 'noticeId' | 'accountId' | 'type';
  notices_not_looked_for: 'accountId' | 'error';
  operator_costs_not_read: 'error';
  operator_key_refused: 'operatorKey' | 'why';
  pages_not_published: 'reason';
  pages_not_removed: 'reason';
  pages_published: 'files';
  pages_removed: 'files';
  payment_busy: never;
  payment_event: 'type' | 'outcome';
  payment_event_refused: never;
  payment_held: 'why';
  payment_key_refused: never;
  payment_unknown: 'paymentId' | 'accountId';
  payments_behind: never;
  payments_followed: 'events' | 'due' | 'begun';
  payments_not_set_up: never;
  picture_not_read: 'creationId' | 'error';
  pixels_not_read: 'error';
  place_not_released: 'door' | 'error';
  provider_answer_unknown: 'provider' | 'providerModel' | 'outcome' | 'detail' | 'millis';
  provider_answered: 'provider' | 'providerModel' | 'outcome' | 'detail' | 'millis';
  provider_awaited: 'provider' | 'millis';
  provider_call_broke: 'provider' | 'error?' | 'providerModel?' | 'outcome?' | 'detail?' | 'millis?';
  provider_circuit_closed: 'provider' | 'providerModel' | 'quality' | 'millis';
  provider_circuit_opened: 'provider' | 'providerModel' | 'quality' | 'rendered' | 'failed';
  provider_refused_credentials: 'provider' | 'providerModel' | 'outcome' | 'detail' | 'millis';
  reconcile_event_ignored: 'status';
  reconcile_failed: 'error';
  reconciled: 'open' | 'looked' | 'started' | 'refunded';
  refund_busy: never;
  refund_not_made: never;
  refund_unclear: 'creationId' | 'error';
  refund_unread: 'creationId' | 'error';
  refusal_not_noted: 'error';
  request_failed: 'requestId?' | 'error' | 'stack?' | 'creationId?';
  request_not_held: 'door' | 'limit';
  request_shed: 'path';
  result_key_not_made: 'reason';
  result_not_read: 'creationId' | 'error';
  results_deleted: 'creationId' | 'accountId' | 'by';
  session_use_not_noted: 'error';
  sign_in_refused: 'why';
  signed_in: 'personId' | 'accountId';
  start_refused: 'creationId?' | 'executionId?' | 'recovery?';
  start_unclear: 'creationId?' | 'accountId?' | 'executionId?';
  starts_held_by_another_run: 'waiting';
  table_not_protected: 'reason';
  table_protected: 'tries';
  task_not_answered: 'creationId' | 'outcome';
  task_not_ended: 'error';
  thumbnails_not_made: 'creationId' | 'error';
  topic_left: 'topic';
  wait_broken_off: 'creationId?' | 'error';
  webhook_attempted: 'deliveryId' | 'endpointId?' | 'attempt' | 'outcome' | 'status' | 'millis';
  webhook_delivery_broke: 'error?' | 'noticeId?' | 'creationId?' | 'recovery?' | 'started?';
  webhook_secret_lost: 'issuedAt';
}

export type LogEvent = keyof LogLines;

type Names<Event extends LogEvent> = LogLines[Event];
type Required<Name extends string> = Exclude<Name, `${string}?`>;
type Optional<Name extends string> = Name extends `${infer Known}?` ? Known : never;

export type LogMember<Event extends LogEvent> = Required<Names<Event>> | Optional<Names<Event>>;

/** The members of a line. Never a prompt, a key, a secret or a signed address. */
export type LogFields<Event extends LogEvent> = Readonly<
  Record<Required<Names<Event>>, unknown> & Partial<Record<Optional<Names<Event>>, unknown>>
>;

/** The events whose lines may have no member of their own. */
export type BareEvent = {
  [Event in LogEvent]: [Required<Names<Event>>] extends [never] ? Event : never;
}[LogEvent];

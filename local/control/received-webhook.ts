/** A webhook as it came in. Members are null where the request did not say them. */
export interface ReceivedWebhook {
  /** RFC 3339, of the virtual clock. */
  readonly received_at: string;
  /** Below /_local/inbox, as `/name`; empty for the inbox itself. */
  readonly path: string;
  readonly event: string | null;
  readonly id: string | null;
  readonly delivery_id: string | null;
  readonly attempt: number | null;
  readonly status: string | null;
  readonly verified: boolean;
  /** What the verification found, for a person. */
  readonly verification: string;
  readonly image_urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed; null when it is no JSON. */
  readonly body: unknown;
  readonly raw_body: string;
}

/** A received webhook. A member is null when the request did not have it. */
export interface ReceivedWebhook {
  /** RFC 3339, of the virtual clock. */
  readonly received_at: string;
  /** The part of the path after /_local/inbox, such as `/name`. Empty for the inbox itself. */
  readonly path: string;
  readonly event: string | null;
  readonly id: string | null;
  readonly delivery_id: string | null;
  readonly attempt: number | null;
  readonly status: string | null;
  readonly verified: boolean;
  /** The verification's findings, for a person. */
  readonly verification: string;
  readonly image_urls: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body. Null when the body is not JSON. */
  readonly body: unknown;
  readonly raw_body: string;
}

/** A creation as the API shows it, in the words of the tools. */

/** The parts of the API's view of a creation that the tools show (service/creations/creation.ts). */
export interface CreationBody {
  readonly id: string;
  readonly status: 'queued' | 'processing' | 'completed' | 'failed';
  readonly model: string;
  readonly prompt: string | null;
  readonly cost: number;
  readonly amount_refunded: number;
  readonly results?: readonly ResultBody[];
  readonly result_expires_at?: string;
  readonly error?: string;
  readonly retryable?: boolean;
  readonly created_at: string;
}

interface ResultBody {
  readonly url: string;
  readonly width: number;
  readonly height: number;
  readonly content_type: string;
  readonly bytes: number;
}

/** The structured content of a result, by the schema creationOutput. */
export function structuredOf(creation: CreationBody): Record<string, unknown> {
  const image = creation.results?.[0];
  return {
    id: creation.id,
    status: creation.status,
    model: creation.model,
    cost: creation.cost,
    amount_refunded: creation.amount_refunded,
    result_url: image?.url ?? null,
    width: image?.width ?? null,
    height: image?.height ?? null,
    error: creation.error ?? null,
  };
}

/** How the creation ended, and what to do now. */
export function sentenceOf(creation: CreationBody): string {
  const { id, model, status, cost } = creation;
  const image = creation.results?.[0];
  switch (status) {
    case 'queued':
    case 'processing':
      return (
        `The creation ${id} is ${status} (${model}, ${cost} USD): there is no image yet. ` +
        `Call get_creation with this id to wait on. Do not call generate_image again for the same image.`
      );
    case 'completed':
      return image
        ? `The image of the creation ${id} is ready: ${image.url} (${image.width} x ${image.height} pixels, ${model}, ${cost} USD).`
        : `The creation ${id} is completed, but its image expired at ${String(creation.result_expires_at)} and is gone.`;
    case 'failed':
      return `The creation ${id} failed: ${creation.error ?? ''} ${refundOf(creation)}${nextOf(creation)}`;
  }
}

function refundOf({ cost, amount_refunded: refunded }: CreationBody): string {
  return refunded >= cost
    ? `Its charge of ${cost} USD was given back in full.`
    : `Of its charge of ${cost} USD, ${refunded} USD were given back so far.`;
}

function nextOf({ retryable }: CreationBody): string {
  return retryable === true
    ? ' The same request may succeed now.'
    : ' Change the request before you try again.';
}

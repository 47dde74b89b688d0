/** The request for an image: what a call asks for, with a model and a format. */
import { listModels } from '../../api/list-models.ts';
import { noProviderEnabled } from '../../api/problems.ts';
import type { ApiRequest } from '../../api/request.ts';
import type { Arguments, ToolCall } from './tool.ts';

export interface ModelBody {
  readonly id: string;
  readonly name: string;
  readonly available: boolean;
  readonly max_image_urls: number;
  readonly supports_negative_prompt: boolean;
  readonly supports_background: boolean;
  readonly supports_mask: boolean;
  readonly qualities: readonly string[];
  readonly quality_pricing: readonly (Price & { readonly quality: string })[];
  readonly resolutions: readonly string[];
  readonly aspect_ratios: readonly string[];
  readonly output_formats: readonly string[];
  readonly default_resolution: string;
  readonly pricing: readonly Price[];
}

interface Price {
  readonly resolution: string;
  readonly usd: number;
  readonly usd_per_input_image: number;
}

export async function modelsOf({
  request,
  caller,
  services,
}: Pick<ToolCall, 'request' | 'caller' | 'services'>): Promise<readonly ModelBody[]> {
  const { body } = await listModels({ ...request, query: {} }, caller, services);
  return (body as { data: readonly ModelBody[] }).data;
}

/** The request that the tool sends. Hosts show only small pictures, so the image is a JPEG if possible. */
export async function imageRequest(call: ToolCall): Promise<Record<string, unknown>> {
  const { wait_seconds: _seconds, ...asked } = call.args;
  const models = await modelsOf(call);
  const id = asked['model'] ?? cheapestOf(models, asked);
  const formats = models.find((model) => model.id === id)?.output_formats ?? [];
  const isJpeg = formats.includes('jpeg') && asked['background'] !== 'transparent';
  return { ...asked, model: id, ...(isJpeg && { output_format: 'jpeg' }) };
}

/** The cheapest available model that renders the request, or of all. Throws when there is none. */
function cheapestOf(models: readonly ModelBody[], args: Arguments): string {
  const available = models.filter((model) => model.available);
  const fitting = available.filter((model) => fits(model, args));
  const [cheapest] = (fitting.length > 0 ? fitting : available).toSorted(
    (one, other) => priceOf(one, args) - priceOf(other, args),
  );
  if (!cheapest) throw noProviderEnabled(undefined, []);
  return cheapest.id;
}

function fits(model: ModelBody, args: Arguments): boolean {
  const { resolution, aspect_ratio: ratio, image_urls: images, negative_prompt: negative } = args;
  const tier = tierOf(args);
  return (
    (tier === undefined || model.qualities.includes(tier)) &&
    (negative == null || model.supports_negative_prompt) &&
    (args['background'] !== 'transparent' || model.supports_background) &&
    ((args['mask_url'] ?? null) === null || model.supports_mask) &&
    (resolution === undefined || model.resolutions.some((one) => one === resolution)) &&
    (ratio === undefined || model.aspect_ratios.some((one) => one === ratio)) &&
    countOf(images) <= model.max_image_urls
  );
}

/** Undefined: the model chooses. */
function tierOf({ quality }: Arguments): string | undefined {
  return typeof quality === 'string' && quality !== 'auto' ? quality : undefined;
}

function priceOf(model: ModelBody, args: Arguments): number {
  const { resolution = model.default_resolution, image_urls: images } = args;
  const tier = tierOf(args);
  const ofTier = model.quality_pricing.filter(({ quality }) => quality === tier);
  const rows = ofTier.length > 0 ? ofTier : model.pricing;
  const row = rows.find((one) => one.resolution === resolution) ?? rows[0];
  return row ? row.usd + row.usd_per_input_image * countOf(images) : Infinity;
}

function countOf(images: unknown): number {
  return Array.isArray(images) ? images.length : 0;
}

/** The request with a JSON body instead of the client's message. */
export function jsonOf<Request extends Pick<ApiRequest, 'headers'>>(
  request: Request,
  body: object,
): Request & Pick<ApiRequest, 'body'> {
  return {
    ...request,
    headers: { ...request.headers, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(body)),
  };
}

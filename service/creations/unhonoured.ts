/** The fields that only some models honour: what a request asks for, and the refusal of what its model cannot do. */
import type { Model, Route } from '../catalog/catalog-schema.ts';
import {
  type Demands,
  hasTier,
  mostNegativePrompt,
  rendersTransparent,
  takesMask,
} from '../catalog/catalog.ts';
import { type OutputFormat, type PlainBody, tierIn } from '../contract/request-fields.ts';
import type { FieldError } from '../values/problem.ts';
import { characters } from '../values/text.ts';

/** A model that the account can use, with the routes that it may take. */
export interface Able {
  readonly id: Model['id'];
  readonly routes: readonly Route[];
}

/** The fields of a request that this file reads. */
type Asked = PlainBody & {
  readonly output_format?: OutputFormat | undefined;
  readonly mask_url?: string | undefined;
};

/** The errors of the fields that no route of the model honours, whoever has enabled it. */
export function unhonoured(body: Asked, model: Model, usable: () => readonly Able[]): FieldError[] {
  return [
    ...unhonouredText(body, model, usable),
    ...unhonouredTier(body, model, usable),
    ...unhonouredBackground(body, model, usable),
    ...unhonouredMask(body, model, usable),
  ];
}

function unhonouredTier(body: PlainBody, model: Model, usable: () => readonly Able[]): FieldError[] {
  const { tier } = demandsOf(body);
  if (tier === undefined || hasTier(model, tier)) return [];
  const able = usable().filter((one) => hasTier(one, tier));
  return [notHonoured('quality', model, `no quality "${tier}"`, able)];
}

function unhonouredText(body: PlainBody, model: Model, usable: () => readonly Able[]): FieldError[] {
  const { negativePromptLength } = demandsOf(body);
  const most = mostNegativePrompt(model.routes);
  if (negativePromptLength <= most) return [];
  const field = 'negative_prompt';
  if (most > 0) return [{ field, code: 'too_long', message: `at most ${most} characters for ${model.id}` }];
  const able = usable().filter(({ routes }) => mostNegativePrompt(routes) > 0);
  return [notHonoured(field, model, 'no negative prompt', able)];
}

/** Every model renders an opaque background. */
function unhonouredBackground(body: Asked, model: Model, usable: () => readonly Able[]): FieldError[] {
  if (!demandsOf(body).isTransparent) return [];
  const code = 'unsupported_value';
  if (body.output_format === 'jpeg')
    return [{ field: 'background', code, message: 'transparent needs the output_format "png" or "webp"' }];
  if (rendersTransparent(model.routes)) return [];
  const able = usable().filter(({ routes }) => rendersTransparent(routes));
  const error = notHonoured('background', model, 'no transparent background', able);
  return [{ ...error, code }];
}

function unhonouredMask(body: Asked, model: Model, usable: () => readonly Able[]): FieldError[] {
  if (!demandsOf(body).hasMask || takesMask(model.routes)) return [];
  const able = usable().filter(({ routes }) => takesMask(routes));
  return [notHonoured('mask_url', model, 'no mask', able)];
}

const mostNamed = 10;

function notHonoured(field: string, model: Model, what: string, able: readonly Able[]): FieldError {
  const names = able.slice(0, mostNamed).map(({ id }) => id);
  const others = names.length === 0 ? 'no available model does' : `models that do: ${names.join(', ')}`;
  return { field, code: 'unsupported_parameter', message: `${model.id} takes ${what}; ${others}` };
}

/** What the request asks of a route, beside the shape and the source images. */
export function demandsOf({
  negative_prompt: text = '',
  quality,
  background,
  mask_url: mask,
}: Asked): Demands & {
  readonly negativePromptLength: number;
  readonly isTransparent: boolean;
  readonly hasMask: boolean;
} {
  return {
    negativePromptLength: characters(text),
    tier: tierIn({ quality }),
    isTransparent: background === 'transparent',
    hasMask: mask !== undefined,
  };
}

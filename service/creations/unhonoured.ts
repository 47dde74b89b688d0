/** The fields that only some models honour: what a request asks for, and the refusal of what its model cannot do. */
import type { Model, Route } from '../catalog/catalog-schema.ts';
import { type Demands, hasTier, mostNegativePrompt } from '../catalog/catalog.ts';
import { type PlainBody, tierIn } from '../contract/request-fields.ts';
import type { FieldError } from '../values/problem.ts';
import { characters } from '../values/text.ts';

/** A model that the account can use, with the routes that it may take. */
export interface Able {
  readonly id: Model['id'];
  readonly routes: readonly Route[];
}

/** The errors of the fields that no route of the model honours, whoever has enabled it. */
export function unhonoured(body: PlainBody, model: Model, usable: () => readonly Able[]): FieldError[] {
  return [...unhonouredText(body, model, usable), ...unhonouredTier(body, model, usable)];
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
}: PlainBody): Demands & { readonly negativePromptLength: number } {
  return { negativePromptLength: characters(text), tier: tierIn({ quality }) };
}

/** The `quality` of an OpenAI request. A vendor's model of several qualities is one model of the catalog for each. */
import type { Catalog, Model } from '../catalog.ts';

/** As the OpenAI API tells the quality of a picture. */
export type Quality = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/**
 * The words that libraries send, with the qualities that they mean: the first one that the model has. 'auto'
 * leaves the choice to the model that the request names.
 */
export const qualityWords: Readonly<Record<string, readonly Quality[] | 'auto'>> = {
  auto: 'auto',
  low: ['low'],
  // Of GPT Image 2.6 only low and high are sold.
  medium: ['medium', 'high'],
  standard: ['medium', 'high'],
  high: ['high'],
  hd: ['high'],
  xhigh: ['xhigh', 'high'],
  max: ['max', 'xhigh', 'high'],
};

/** The quality in which every route renders the model. Undefined for a model that has no qualities. */
export function qualityOf({ routes }: Model): Quality | undefined {
  const [first] = routes;
  if (!first?.quality) return undefined;
  return routes.every(({ quality }) => quality === first.quality) ? first.quality : undefined;
}

/** The model in all its qualities, itself included. Empty when it has only one. */
export function qualitiesOf(model: Model, catalog: Catalog): readonly Model[] {
  const family = model.quality_of ?? model.id;
  const siblings = catalog.models.filter((one) => (one.quality_of ?? one.id) === family);
  return siblings.length > 1 ? siblings : [];
}

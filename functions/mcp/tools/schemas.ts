/** The arguments and results that several tools share. */
import { creationStatuses } from '../../../core/creation.ts';
import { aspectRatios, mostImageUrls, resolutions } from '../../../core/image-formats.ts';
import { toolWaitSeconds } from '../../../core/limits.ts';
import { capitalized, plainRows, plainWords } from '../../../core/request-fields.ts';
import { listOf, number, objectOf, orNull, text, type Schema } from './json-schema.ts';

export const creationId = text('The id of a creation, as generate_image and list_creations give it.');

export const waitSeconds: Schema = {
  type: 'number',
  minimum: 0,
  maximum: toolWaitSeconds.most,
  default: toolWaitSeconds.usual,
  description:
    'How long the call waits for the image. When the time is over, the result has the id for get_creation.',
};

const plainArguments = Object.fromEntries(
  plainRows.map(([name, field]): [string, Schema] => {
    const description = `${capitalized(plainWords[name].hint)}.`;
    if (field.kind === 'integer')
      return [name, { type: 'integer', minimum: field.least, maximum: field.most, description }];
    if (field.kind === 'choice') return [name, { type: 'string', enum: field.values, description }];
    return [name, { type: 'string', maxLength: field.most, description }];
  }),
);

/** What an image is asked for, as POST /images/generate takes it. */
export const imageArguments = {
  prompt: text('What the image shows.'),
  model: text('The id of a model of list_models. Without it, the cheapest model that fits.'),
  aspect_ratio: {
    type: 'string',
    enum: aspectRatios,
    description: 'The shape of the image. Without it, the usual shape of the model.',
  },
  resolution: {
    type: 'string',
    enum: resolutions,
    description: 'The size of the image. Without it, the usual size of the model.',
  },
  image_urls: {
    ...listOf({ type: 'string' }, 'Addresses of images that the model works from.'),
    maxItems: mostImageUrls,
  },
  ...plainArguments,
  max_cost: {
    type: 'number',
    minimum: 0,
    description:
      'The most that the image may cost, in USD. A higher price is refused, and nothing is charged.',
  },
} as const satisfies Readonly<Record<string, Schema>>;

export const optionalImageArguments = Object.keys(imageArguments).filter((name) => name !== 'prompt');

export const creationStatus: Schema = { type: 'string', enum: creationStatuses };

/** One creation, as generate_image, get_creation and cancel_creation give it. */
export const creationOutput = objectOf({
  id: text('The id of the creation.'),
  status: { ...creationStatus, description: 'The image is there when this is "completed".' },
  model: text('The model that renders it.'),
  cost: number('What was charged, in USD.'),
  amount_refunded: number('What was given back, in USD. A creation that fails is refunded in full.'),
  result_url: orNull(text('The address of the image. Null while there is none.')),
  width: orNull({ type: 'integer', description: 'In pixels.' }),
  height: orNull({ type: 'integer', description: 'In pixels.' }),
  error: orNull(text('Why the creation failed. Null unless it failed.')),
});

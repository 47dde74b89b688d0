/** The arguments and results that several tools share. */
import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import { toolWaitSeconds } from '../../contract/limits.ts';
import {
  aspectRatios,
  capitalized,
  mostCount,
  mostImageUrls,
  plainRows,
  plainWords,
  resolutions,
} from '../../contract/request-fields.ts';
import { creationStatuses } from '../../creations/creation.ts';

interface Schema {
  readonly type: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly (string | null)[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly default?: number;
}

export interface ObjectSchema extends Schema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

/** An object with these members and no other. @param optional the members that may be absent */
export function objectOf(
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): ObjectSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

export const text = (description: string): Schema => ({ type: 'string', description });
export const number = (description: string): Schema => ({ type: 'number', description });
export const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type, 'null'].flat() });
export const listOf = (items: Schema, description: string): Schema => ({ type: 'array', items, description });

/** The schema as the SDK shows it. The API checks arguments, so tools refuse with the same sentences. */
export function shown(schema: ObjectSchema): StandardSchemaWithJSON<unknown, Record<string, unknown>> {
  const json = (): Record<string, unknown> => ({ ...schema });
  return {
    '~standard': {
      version: 1,
      vendor: 'darkroom',
      validate: (value) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: json, output: json },
    },
  };
}

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
  mask_url: text(
    'The address of a PNG of the size of the first image. What is see-through in it may change.',
  ),
  ...plainArguments,
  count: {
    type: 'integer',
    minimum: 1,
    maximum: mostCount,
    description: 'How many images, each a creation of its own. All are charged, or none. Without it, one.',
  },
  max_cost: {
    type: 'number',
    minimum: 0,
    description:
      'The most that the image may cost, in USD. A higher price is refused, and nothing is charged.',
  },
} as const satisfies Readonly<Record<string, Schema>>;

export const optionalImageArguments = Object.keys(imageArguments).filter((name) => name !== 'prompt');

export const creationStatus: Schema = { type: 'string', enum: creationStatuses };

const ofOneCreation = {
  id: text('The id of the creation.'),
  status: { ...creationStatus, description: 'The image is there when this is "completed".' },
  model: text('The model that renders it.'),
  cost: number('What was charged, in USD.'),
  amount_refunded: number('What was given back, in USD. A creation that fails is refunded in full.'),
  result_url: orNull(text('The address of the image. Null while there is none.')),
  width: orNull({ type: 'integer', description: 'In pixels.' }),
  height: orNull({ type: 'integer', description: 'In pixels.' }),
  error: orNull(text('Why the creation failed. Null unless it failed.')),
};

export const creationOutput = objectOf(
  {
    ...ofOneCreation,
    others: listOf(objectOf(ofOneCreation), 'The other creations of a call with `count`.'),
  },
  ['others'],
);

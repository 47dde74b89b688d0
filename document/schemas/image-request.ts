/**
 * The body of POST /images/generate and POST /images/quote.
 *
 * core/image-request.ts validates requests; this schema documents the same rules and refuses nothing that the
 * API accepts (test/document/requests.test.ts). A schema cannot say some rules, and states them in words:
 * a length after trimming, well-formed text, addresses that the service may call, and six decimals.
 */
import * as z from 'zod';
import { mostImageUrls } from '../../core/image-formats.ts';
import { maxUrlLength } from '../../core/limits.ts';
import { aspectRatio, outputFormat, resolution, user } from './values.ts';

const imageUrl = z.string().min(1).max(maxUrlLength).meta({
  description: 'An address that the service downloads, or `upload:ID` of an upload of this account.',
});

/** A prompt that is not blank is required unless there is an image. zod has no word for it. */
const promptUnlessImages = {
  if: {
    required: ['image_urls'],
    properties: { image_urls: { type: 'array', minItems: 1 } },
    additionalProperties: true,
  },
  else: {
    required: ['prompt'],
    properties: { prompt: { type: 'string', pattern: '\\S' } },
    additionalProperties: true,
  },
};

export const imageRequest = z
  .strictObject({
    model: z
      .string()
      .min(1)
      .meta({ description: 'The id of a model of GET /models.', examples: ['sandbox-standard'] }),
    prompt: z.string().nullish().meta({
      description:
        'What the image shows. Spaces around it are removed; then it has at most `max_prompt_length` characters of the model. Required unless image_urls has an item.',
    }),
    resolution: resolution.nullish(),
    aspect_ratio: aspectRatio.nullish(),
    output_format: outputFormat.nullish(),
    image_urls: z
      .array(imageUrl)
      .max(mostImageUrls)
      .nullish()
      .meta({ description: 'Source images; at most `max_image_urls` of the model.' }),
    webhook_url: z.string().min(1).max(maxUrlLength).nullish().meta({
      description: 'An https address that gets one signed event when the creation has ended.',
    }),
    seed: z
      .int()
      .min(0)
      .max(2 ** 31 - 1)
      .nullish()
      .meta({ description: 'Passed on if the provider supports it.' }),
    metadata: z
      .record(z.string().min(1).max(40), z.string().max(500))
      .nullish()
      .meta({
        description: 'At most 16 texts of your own. Creation and webhook return them unchanged.',
        override: ({ jsonSchema }) => {
          const object = jsonSchema.anyOf?.find((one) => 'type' in one && one.type === 'object');
          Object.assign(object ?? jsonSchema, { maxProperties: 16 });
        },
      }),
    user: user('For whom you render, such as the id of your customer. Stored exactly as sent.').nullish(),
    max_cost: z.number().min(0).nullish().meta({
      description:
        'The most that the request may cost, in USD with at most 6 decimals. A higher price is refused, and nothing is charged.',
    }),
  })
  .meta({
    id: 'ImageRequest',
    description: 'A request for an image. null in an optional field means that the field is left out.',
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, promptUnlessImages);
    },
  });

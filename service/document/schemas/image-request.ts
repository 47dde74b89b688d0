/**
 * The body of POST /images/generate and POST /images/quote.
 *
 * service/creations/image-request.ts validates requests; this schema documents the same rules and refuses nothing that the
 * API accepts (test/document/openapi-file.test.ts). A schema cannot say some rules, and states them in words:
 * a length after trimming, well-formed text, addresses that the service may call, and six decimals.
 */
import * as z from 'zod';
import { maxUrlLength } from '../../contract/limits.ts';
import { mostCount, mostImageUrls, plainRows, plainWords } from '../../contract/request-fields.ts';
import { aspectRatio, outputFormat, plainSchema, resolution, user } from './values.ts';

const imageUrl = z.string().min(1).max(maxUrlLength).meta({
  description:
    'An address that the service downloads, or `upload:ID` of an upload of this account, in any mixture. An address is http or https, with port 80, 443 or at least 1024, without user name and password. Its host has public addresses only.',
});

const ofTheModel = 'One of those of the model, as GET /models lists them. The default is that of the model.';

/** A prompt that is not blank is required unless there is an image. zod has no word for it. */
const promptUnlessImages = {
  if: {
    required: ['image_urls'],
    properties: { image_urls: { type: 'array', items: {}, minItems: 1 } },
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
        'What the image shows. Spaces around it are removed; then it has at most as many characters (Unicode code points) as `max_prompt_length` of the model says. Required unless image_urls has an item.',
    }),
    resolution: resolution.nullish().meta({ description: ofTheModel }),
    aspect_ratio: aspectRatio.nullish().meta({ description: ofTheModel }),
    output_format: outputFormat.nullish().meta({ description: ofTheModel }),
    image_urls: z
      .array(imageUrl)
      .max(mostImageUrls)
      .nullish()
      .meta({ description: 'Source images; at most `max_image_urls` of the model.' }),
    mask_url: imageUrl.nullish().meta({
      description:
        'A PNG of exactly the size of the first source image, for a model with `supports_mask`. What is see-through in it (opacity below 128) may change; of a mask that is opaque everywhere, what is white (128 or more). The rest of the image stays as in the source.',
    }),
    webhook_url: z.string().min(1).max(maxUrlLength).nullish().meta({
      description:
        'An https address that gets one signed event when the creation has ended. Its port is 443 or at least 1024. It has no user name and no password, and its host has public addresses only.',
    }),
    ...Object.fromEntries(
      plainRows.map(([name, field]) => [
        name,
        plainSchema(field).nullish().meta({ description: plainWords[name].description }),
      ]),
    ),
    metadata: z
      .record(z.string().min(1).max(40), z.string().max(500))
      .nullish()
      .meta({
        description:
          'At most 16 texts of your own. A key has 1 to 40 characters (Unicode code points). Creation and webhook return the texts under exactly these keys, whatever they are (even `constructor` or `__proto__`).',
        override: ({ jsonSchema }) => {
          const object = jsonSchema.anyOf?.find((one) => 'type' in one && one.type === 'object');
          Object.assign(object ?? jsonSchema, { maxProperties: 16 });
        },
      }),
    user: user('1 to 64 characters (Unicode code points) without control characters.').nullish().meta({
      description:
        'For whom you render, such as the id of your customer. Stored exactly as sent. A key with a budget for each user requires it.',
    }),
    count: z.int().min(1).max(mostCount).nullish().meta({
      description:
        'How many images, each a creation of its own with the next seed. All are charged, or none. With it the answer is a list, also for 1. Without it, the answer is one creation.',
    }),
    max_cost: z.number().min(0).nullish().meta({
      description:
        'The most that the request may cost, in USD with at most 6 decimals. A higher price is refused with the reason `max_cost_exceeded`, and nothing is charged.',
    }),
  })
  .meta({
    id: 'ImageRequest',
    description:
      'A request for an image. null in an optional field means that the field is left out. Unknown fields are refused. Text is well-formed: half of a UTF-16 surrogate pair is refused.',
    override: ({ jsonSchema }) => {
      Object.assign(jsonSchema, promptUnlessImages);
    },
  });

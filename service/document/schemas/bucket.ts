/** The bucket of an account that gets a copy of each picture. */
import * as z from 'zod';
import { maxUrlLength } from '../../contract/limits.ts';
import { bucketForms, longestPrefix } from '../../copies/bucket.ts';
import { creationId } from './creation.ts';
import { moment } from './values.ts';

const place = {
  endpoint: z
    .string()
    .max(maxUrlLength)
    .meta({
      description:
        'The address of the service that speaks S3, without a path, by the rules of `webhook_url`.',
      examples: ['https://s3.example.com'],
    }),
  bucket: z
    .string()
    .regex(bucketForms.bucket)
    .meta({ description: 'It stands in the path of each request.' }),
  region: z
    .string()
    .regex(bucketForms.region)
    .meta({ description: 'The region that requests are signed for. Some services take `auto`.' }),
};
const prefix = z.string().max(longestPrefix).regex(bucketForms.prefix);

const credentials = z
  .strictObject({
    access_key_id: z.string().regex(bucketForms.key),
    secret_access_key: z.string().regex(bucketForms.key),
  })
  .meta({
    id: 'BucketCredentials',
    description: 'Keys that may put objects. They are stored sealed, and no answer has them.',
  });

export const bucketRequest = z
  .strictObject({
    ...place,
    prefix: prefix
      .nullish()
      .meta({ description: 'What stands before the name of each object, such as `darkroom/`.' }),
    credentials,
  })
  .meta({ id: 'ResultsBucketRequest', description: 'A bucket for copies of results.' });

export const bucket = z
  .object({
    ...place,
    prefix: prefix.meta({ description: 'What stands before the name of each object. It may be empty.' }),
    updated_at: moment('When the bucket was set.'),
  })
  .meta({ id: 'ResultsBucket', description: 'The bucket that gets a copy of each picture.' });

export const copyRequest = z
  .strictObject({ creation_id: creationId })
  .meta({ id: 'CopyRequest', description: 'The picture that is copied again.' });

import * as z from 'zod';
import type { AwsCall, AwsOutput } from './aws-call.ts';
import { parseInput } from './call-input.ts';
import type { ObjectIndex } from './object-index.ts';
import type { ListedObject } from './s3-listing.ts';

const schema = z.object({
  Bucket: z.string(),
  Prefix: z.string().default(''),
  MaxKeys: z.int().min(0).max(1000).default(1000),
  ContinuationToken: z.string().optional(),
});

/** ListObjectsV2: one page of the keys with a prefix. The token holds the last key of the page before. */
export function listObjects(index: ObjectIndex, call: AwsCall): AwsOutput {
  const { Bucket, Prefix, MaxKeys, ContinuationToken } = parseInput(schema, call);
  const after = Buffer.from(ContinuationToken ?? '', 'base64url');
  const records = index
    .list(Bucket, Prefix)
    .filter((record) => Buffer.compare(Buffer.from(record.key), after) > 0);
  const page = records.slice(0, MaxKeys);
  const last = page.at(-1);
  const truncated = last !== undefined && page.length < records.length;
  const Contents = page.map((record): ListedObject => ({
    Key: record.key,
    Size: record.size,
    ETag: record.etag,
    LastModified: new Date(record.writtenAtMs),
  }));
  return {
    Name: Bucket,
    Prefix,
    MaxKeys,
    IsTruncated: truncated,
    Contents,
    ...(truncated && { NextContinuationToken: Buffer.from(last.key).toString('base64url') }),
  };
}

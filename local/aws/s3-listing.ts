import { isObject } from '../json-object.ts';
import type { AwsOutput } from './aws-call.ts';

/** One object of a listing. */
export interface ListedObject {
  readonly Key: string;
  readonly Size: number;
  readonly ETag: string;
  readonly LastModified: Date;
}

/** The XML of ListObjectsV2. */
export function writeListing(output: AwsOutput): string {
  const contents = Array.isArray(output.Contents) ? output.Contents.filter(isListed) : [];
  const members = [
    element('Name', String(output.Name)),
    element('Prefix', String(output.Prefix)),
    element('KeyCount', String(contents.length)),
    element('MaxKeys', String(output.MaxKeys)),
    element('IsTruncated', String(output.IsTruncated)),
    typeof output.NextContinuationToken === 'string'
      ? element('NextContinuationToken', output.NextContinuationToken)
      : '',
    ...contents.map(writeObject),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${members.join('')}</ListBucketResult>`;
}

function isListed(value: unknown): value is ListedObject {
  return isObject(value) && value.LastModified instanceof Date;
}

function writeObject(object: ListedObject): string {
  const { Key, Size, ETag, LastModified } = object;
  return `<Contents>${element('Key', Key)}${element('LastModified', LastModified.toISOString())}${element('ETag', ETag)}${element('Size', String(Size))}<StorageClass>STANDARD</StorageClass></Contents>`;
}

function element(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`;
}

/** Escapes text for XML. Control characters become references, so that no key breaks a listing. */
export function escapeXml(text: string): string {
  return text.replace(/[<>&"'\r\n\t]/g, (character) => `&#${character.charCodeAt(0)};`);
}

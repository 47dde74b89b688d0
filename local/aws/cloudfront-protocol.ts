/** The part of CloudFront's REST API that knows public keys and key groups, in XML. */
import { createHash, randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { AwsError } from './aws-error.ts';
import type { KeyGroups } from './key-groups.ts';

const root = '/2020-05-31/';
const namespace = 'http://cloudfront.amazonaws.com/doc/2020-05-31/';

export function isOfCloudFront(url = ''): boolean {
  return url.startsWith(root);
}

interface Answer {
  readonly status: number;
  readonly etag?: string;
  readonly xml?: string;
}

export interface CloudFrontCall {
  readonly method: string;
  readonly url: string;
  readonly ifMatch: string | undefined;
  readonly body: string;
}

/** Throws AwsError for what CloudFront refuses. */
export function answerCloudFront(
  { method, url, ifMatch, body }: CloudFrontCall,
  keyGroups: Pick<KeyGroups, 'read' | 'write'>,
  nowMillis: number,
): Answer {
  const [kind = '', id = ''] = url.slice(root.length).replace(/\?.*$/, '').split('/');
  const { publicKeys, keyGroups: groups } = keyGroups.read();
  const at = new Date(nowMillis).toISOString();
  const keyXml = (key: string): Answer => {
    const found = publicKeys[key];
    if (!found) throw refused('NoSuchPublicKey', 404);
    return { status: 200, etag: tagOf(found), xml: publicKeyXml(key, found) };
  };
  const group = groups[id];
  switch (`${method} ${kind}${id === '' ? '' : '/'}`) {
    case 'POST public-key': {
      const made = {
        name: textIn(body, 'Name'),
        callerReference: textIn(body, 'CallerReference'),
        encodedKey: textIn(body, 'EncodedKey'),
        createdAt: at,
      };
      if (Object.values(publicKeys).some(({ name }) => name === made.name))
        throw refused('PublicKeyAlreadyExists', 409);
      const key = `K${randomBytes(7).toString('hex').toUpperCase().slice(0, 13)}`;
      keyGroups.write({ publicKeys: { ...publicKeys, [key]: made }, keyGroups: groups });
      return { status: 201, etag: tagOf(made), xml: publicKeyXml(key, made) };
    }
    case 'GET public-key': {
      const items = Object.entries(publicKeys)
        .map(([key, { name, createdAt, encodedKey }]) =>
          element('PublicKeySummary', {
            ...{ Id: key, Name: name, CreatedTime: createdAt, EncodedKey: encodedKey },
          }),
        )
        .join('');
      const quantity = Object.keys(publicKeys).length;
      return {
        status: 200,
        xml: `<PublicKeyList xmlns="${namespace}"><MaxItems>100</MaxItems><Quantity>${quantity}</Quantity><Items>${items}</Items></PublicKeyList>`,
      };
    }
    case 'GET public-key/':
      return keyXml(id);
    case 'DELETE public-key/': {
      const { etag } = keyXml(id);
      if (ifMatch !== etag) throw refused('PreconditionFailed', 412);
      if (Object.values(groups).some(({ items }) => items.includes(id))) throw refused('PublicKeyInUse', 409);
      const { [id]: _gone, ...others } = publicKeys;
      keyGroups.write({ publicKeys: others, keyGroups: groups });
      return { status: 204 };
    }
    case 'GET key-group/':
      if (!group) throw refused('NoSuchResource', 404);
      return { status: 200, etag: tagOf(group), xml: keyGroupXml(id, group) };
    case 'PUT key-group/': {
      if (!group) throw refused('NoSuchResource', 404);
      if (ifMatch !== tagOf(group)) throw refused('PreconditionFailed', 412);
      const items = [...body.matchAll(/<PublicKey>([^<]*)<\/PublicKey>/g)].map(([, key = '']) => key);
      if (items.length === 0 || items.some((key) => !publicKeys[key])) throw refused('InvalidArgument', 400);
      const next = { name: textIn(body, 'Name'), items, modifiedAt: at };
      keyGroups.write({ publicKeys, keyGroups: { ...groups, [id]: next } });
      return { status: 200, etag: tagOf(next), xml: keyGroupXml(id, next) };
    }
    default:
      throw refused('UnknownOperationException', 404);
  }
}

export function writeCloudFront({ status, etag, xml = '' }: Answer, response: ServerResponse): void {
  response.writeHead(status, { 'content-type': 'text/xml', ...(etag !== undefined && { etag }) });
  response.end(xml);
}

export function writeCloudFrontError({ code, message, status }: AwsError, response: ServerResponse): void {
  const error = element('Error', { Type: 'Sender', Code: code, Message: message });
  writeCloudFront({ status, xml: `<ErrorResponse xmlns="${namespace}">${error}</ErrorResponse>` }, response);
}

function refused(code: string, status: number): AwsError {
  return new AwsError(code, `CloudFront refuses it: ${code}`, { status });
}

function tagOf(stored: object): string {
  return createHash('sha256').update(JSON.stringify(stored)).digest('hex').slice(0, 14).toUpperCase();
}

function textIn(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
  return text.replace(/&#x([0-9A-Fa-f]+);/g, (_all, code: string) => String.fromCharCode(parseInt(code, 16)));
}

function element(name: string, members: Readonly<Record<string, string>>): string {
  const inner = Object.entries(members).map(([member, text]) => `<${member}>${text}</${member}>`);
  return `<${name}>${inner.join('')}</${name}>`;
}

type Stored = ReturnType<KeyGroups['read']>;

function publicKeyXml(id: string, key: Stored['publicKeys'][string]): string {
  const config = { CallerReference: key.callerReference, Name: key.name, EncodedKey: key.encodedKey };
  const inner = element('PublicKeyConfig', config);
  return `<PublicKey xmlns="${namespace}"><Id>${id}</Id><CreatedTime>${key.createdAt}</CreatedTime>${inner}</PublicKey>`;
}

function keyGroupXml(id: string, { name, items, modifiedAt }: Stored['keyGroups'][string]): string {
  const keys = items.map((key) => `<PublicKey>${key}</PublicKey>`).join('');
  return `<KeyGroup xmlns="${namespace}"><Id>${id}</Id><LastModifiedTime>${modifiedAt}</LastModifiedTime><KeyGroupConfig><Name>${name}</Name><Items>${keys}</Items></KeyGroupConfig></KeyGroup>`;
}

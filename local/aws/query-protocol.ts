/** The query protocol of AWS, in which SNS speaks: a form as the request, and XML as the answer. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AwsCall, AwsOutput } from './aws-call.ts';
import type { AwsError } from './aws-error.ts';

const namespace = 'http://sns.amazonaws.com/doc/2010-03-31/';

export function isQuery({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'POST' && headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true
  );
}

/** `Attributes.entry.1.key` and `.value` become a member `Attributes`. */
export function readQueryCall(body: Buffer, caller: string): AwsCall {
  const {
    Action: operation = '',
    Version: _version,
    ...members
  } = Object.fromEntries(new URLSearchParams(body.toString('utf8')));
  const input: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(members)) {
    const [, map = '', entry = ''] = /^(\w+)\.entry\.(\d+)\.key$/.exec(name) ?? [];
    if (map !== '') {
      const known = (input[map] ?? {}) as Record<string, unknown>;
      input[map] = { ...known, [value]: members[`${map}.entry.${entry}.value`] ?? '' };
    } else if (!name.includes('.entry.')) input[name] = value;
  }
  return { service: 'sns', operation, caller, input };
}

export function writeQueryOutput({ operation }: AwsCall, output: AwsOutput, response: ServerResponse): void {
  const result =
    Object.keys(output).length === 0 ? '' : `<${operation}Result>${xmlOf(output)}</${operation}Result>`;
  const metadata = `<ResponseMetadata><RequestId>${randomUUID()}</RequestId></ResponseMetadata>`;
  write(
    response,
    200,
    `<${operation}Response xmlns="${namespace}">${result}${metadata}</${operation}Response>`,
  );
}

/** SNS has names of its own for what IAM refuses and for a throttle. */
const names: Readonly<Record<string, readonly [code: string, status: number]>> = {
  AccessDeniedException: ['AuthorizationError', 403],
  ThrottlingException: ['Throttled', 429],
  InternalServerError: ['InternalError', 500],
};

export function writeQueryError({ code, status, message }: AwsError, response: ServerResponse): void {
  const [name, number] = names[code] ?? [code, status];
  const type = number >= 500 ? 'Receiver' : 'Sender';
  const error = `<Error>${xmlOf({ Type: type, Code: name, Message: message })}</Error>`;
  write(
    response,
    number,
    `<ErrorResponse xmlns="${namespace}">${error}<RequestId>${randomUUID()}</RequestId></ErrorResponse>`,
  );
}

function write(response: ServerResponse, status: number, xml: string): void {
  response.writeHead(status, { 'content-type': 'text/xml', 'content-length': Buffer.byteLength(xml) });
  response.end(xml);
}

function xmlOf(members: Readonly<Record<string, unknown>>): string {
  return Object.entries(members)
    .map(([name, value]) => `<${name}>${valueXml(value)}</${name}>`)
    .join('');
}

function valueXml(value: unknown): string {
  if (Array.isArray(value)) return value.map((one) => `<member>${valueXml(one)}</member>`).join('');
  if (typeof value === 'object' && value !== null) return xmlOf(value as Record<string, unknown>);
  return String(value).replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);
}

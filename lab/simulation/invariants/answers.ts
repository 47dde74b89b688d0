/** The invariants of answers that only report: lists, balances and replays are compared with the books. */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { undocumented, undocumentedDelivery } from '../../../service/document/check/undocumented.ts';
import { asBody, type Asked, type Body, memberOf } from '../clients/requests.ts';
import type { Post } from '../network/outbound.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import type { Accuse, Books } from './money-books.ts';

const dayMillis = 86_400_000;
const listedAtOnce = 20;

export function createReadingInvariants(world: World, books: Books, accuse: Accuse) {
  function listIsTheAccounts({ account, at }: Asked, body: Body): void {
    const rows: unknown = body['data'];
    const listed = Array.isArray(rows) ? rows.map((row) => memberOf(asBody(row) ?? {}, 'id')) : [];
    const foreign = listed.filter((id) => books.creations.get(id)?.account !== account);
    if (foreign.length > 0) accuse('an account sees its own creations only', `listed ${foreign.join(', ')}`);
    if (listed.some((id, index) => id >= (listed[index - 1] ?? 'g')))
      accuse('a list is newest first, each once', listed.join(', '));
    // Only a fault makes the index lag.
    if (listed.length >= listedAtOnce || world.injected.some(({ kind }) => kind === 'lag')) return;
    const missing = [...books.creations.values()].filter(
      (book) => book.account === account && book.chargedAt < at && !listed.includes(book.id),
    );
    if (missing.length > 0)
      accuse('every accepted creation is listed', missing.map(({ id }) => id).join(', '));
  }

  function balanceIsTheLedgers({ account, ledger }: Asked, body: Body): void {
    // If the balance changed meanwhile, the answer may report the old or the new balance.
    if (books.ledgerOf(account).rows !== ledger.rows) return;
    const told = Math.round(Number(body['available']) * 1_000_000);
    if (told !== ledger.sumMicros)
      accuse('the balance told is the ledger’s', `${account}: ${told}, by the ledger ${ledger.sumMicros}`);
  }

  function replayIsNotTooLate({ at }: Asked, body: Body): void {
    const book = books.creations.get(String(body['id']));
    if (book && book.createdAt < at - dayMillis - world.clocks.largestSkew())
      accuse('a key is free again after 24 h', `${book.id} was replayed ${at - book.createdAt} ms later`);
  }

  return {
    /** Checks an answer with a status of 2xx. */
    onAnswer: (asked: Asked, body: Body, headers: Readonly<Record<string, unknown>>) => {
      if (asked.operation === 'list') listIsTheAccounts(asked, body);
      if (asked.operation === 'balance') balanceIsTheLedgers(asked, body);
      if (headers['idempotent-replayed'] === 'true') replayIsNotTooLate(asked, body);
    },
  };
}

/** The first words of each sentence and its code. They stand here again, because the table of the product is tested. */
const codes = [
  ['Prompt rejected by', 'prompt_rejected'],
  ['The source image was', 'image_rejected'],
  ['Generation failed. Please', 'generation_failed'],
  ['Nothing was rendered', 'nothing_rendered'],
  ['Generation timed out', 'timed_out'],
  ['The service is temporarily', 'provider_unavailable'],
  ['Generation failed.', 'internal'],
] as const;

/** The member `error` of a failed creation is a text. The member `error` of a refusal is an object. */
function hasItsCode({ error, error_code: code, cancelled_at: cancelledAt }: Body): boolean {
  if (typeof cancelledAt === 'string') return code === 'cancelled';
  // A refusal does not say whether the creation was cancelled.
  if (code === 'cancelled') return cancelledAt === undefined && error === 'Generation failed.';
  return code === codes.find(([first]) => String(error).startsWith(first))?.[1];
}

export function createDocumentInvariants(accuse: Accuse) {
  function codesFit(text: string): void {
    if (!text.includes('"error":"')) return;
    JSON.parse(text, (_, value: unknown) => {
      const body = asBody(value);
      if (typeof body?.['error'] === 'string' && !hasItsCode(body))
        accuse(
          'each failure has the code of its sentence',
          `${body['error']}: ${String(body['error_code'])}`,
        );
      return value;
    });
  }

  const asked = new Map<string, { readonly method: string; readonly path: string }>();
  return {
    /** Called when an API function begins with a request. */
    onSent: ({ id }: Invocation, { rawPath: path, requestContext }: APIGatewayProxyEventV2) => {
      asked.set(id, { method: requestContext.http.method, path });
    },
    /** Called when an API function answered. */
    onServed: (
      { id }: Invocation,
      { statusCode: status = 0, headers = {}, body: text = '' }: APIGatewayProxyStructuredResultV2,
    ) => {
      const request = asked.get(id);
      if (!request) return;
      const told = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
      for (const finding of undocumented({ ...request, status, headers: told, text }))
        accuse('every answer is as docs/openapi.json documents it', finding);
      codesFit(text);
    },
    onPost: (post: Post) => {
      for (const finding of undocumentedDelivery(post))
        accuse('every delivery is as docs/openapi.json documents it', finding);
      codesFit(post.body);
    },
  };
}

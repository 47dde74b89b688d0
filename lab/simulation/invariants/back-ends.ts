/**
 * The invariants of the operator API: the money that its doors move, at each commit; who is let in; what each request
 * leaves in the log; and that equal requests have one effect.
 */
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import type { Item } from '../../../local/dynamodb/attributes.ts';
import {
  type OperatorOperation,
  type OperatorOperationName,
  operatorOperations,
} from '../../../service/contract/operator-operations.ts';
import { undocumented } from '../../../service/document/check/operator-undocumented.ts';
import { dayOf } from '../../../service/values/time.ts';
import type { Change, SimulatedTable } from '../aws/simulated-table.ts';
import { type Body, bodyOf, detailsOf, memberOf } from '../clients/requests.ts';
import type { Invocation, World } from '../world/simulated-world.ts';
import { type Accuse, type Books, textOf } from './money-books.ts';
import { changesNothing, kindOf } from './portal-edits.ts';

/** One request, from its beginning to its answer. */
interface Call {
  readonly id: string;
  readonly name: OperatorOperationName;
  /** The id of its key. */
  readonly key: string;
  readonly scopes: readonly string[];
  readonly path: string;
  readonly body: Body;
  readonly idempotencyKey: string | undefined;
  readonly startedAt: number;
  /** Of the ledger of the account, when the request began. */
  readonly rowsBefore: number;
  /** Kinds of what it wrote, beside counts and rows in logs. */
  readonly wrote: Set<string>;
  isCounted: boolean;
  /** How its row in the operator's log says that it ended. */
  outcome?: string;
  /** The status of a refusal that was answered. */
  refusedWith?: number;
}

interface Paid {
  readonly creditedMicros: number;
  reversedMicros: number;
}

/** Rows that a refused request may write. */
const harmless = new Set(['RATE', 'REJECTED', 'BLOCK', 'ACTION', 'TOLD', 'NOTICE', 'NEW_EVENT', 'EVENT']);
/** Faults after which a write may still arrive, although its function has given up. */
const arrivesLater: ReadonlySet<string> = new Set(['late', 'late_answer', 'hang']);
/** Statuses that say nothing about a key: blocked, broken, busy. */
const silent = new Set([429, 500, 503]);
const credited = 'credited_';
const numberOf = (item: Item | undefined, name: string): number => Number(item?.[name]?.N ?? 0);

/** The account that a path names. */
const accountIn = (path: string): string => path.split('/')[5] ?? '';
const requestOf = ({ path, body }: Call): string => JSON.stringify([path, body]);

export function createBackEndInvariants(
  world: World,
  table: () => SimulatedTable | undefined,
  books: Books,
  accuse: Accuse,
) {
  const calls = new Map<string, Call>();
  /** Which references have moved a wallet, by account and reference. */
  const moved = new Set<string>();
  const payments = new Map<string, Paid>();
  /** The requests that had an effect, by operator key and Idempotency-Key. */
  const effects = new Map<string, string>();
  /** What the first answer named, by operator key, Idempotency-Key and request. */
  const named = new Map<string, string>();
  /** When an account had a condition last, by account and condition. */
  const heldUntil = new Map<string, number>();
  /** The accounts by their external ids. */
  const externals = new Map<string, string>();

  /** The rows that a commit adds to ledgers. */
  function followRow(pk: string, row: Item, call: Call | undefined, changes: readonly Change[]): void {
    const reference = textOf(row, 'reference');
    if (reference !== '') {
      const own = `${pk} ${reference}`;
      if (moved.has(own)) accuse('a reference moves a wallet once, whichever door took it', own);
      moved.add(own);
    }
    if (textOf(row, 'by') !== (call?.key ?? ''))
      accuse('a row of the ledger names the operator key behind it', `${pk}: ${textOf(row, 'by')}`);
    const id = textOf(row, 'payment');
    if (id === '') return;
    if (textOf(row, 'kind') === 'payment')
      payments.set(id, { creditedMicros: numberOf(row, 'amountMicros'), reversedMicros: 0 });
    else {
      const paid = payments.get(id);
      if (paid) paid.reversedMicros -= numberOf(row, 'amountMicros');
    }
    if (!changes.some(({ after }) => textOf(after, 'id') === id))
      accuse('a payment is the sum of its rows', `${id} has a row alone`);
  }

  function paymentIsItsRows(item: Item): void {
    const id = textOf(item, 'id');
    const [inItem, back] = [numberOf(item, 'creditedMicros'), numberOf(item, 'reversedMicros')];
    const { creditedMicros = 0, reversedMicros = 0 } = payments.get(id) ?? {};
    if (inItem !== creditedMicros || back !== reversedMicros)
      accuse(
        'a payment is the sum of its rows',
        `${id}: ${inItem} less ${back}, not ${creditedMicros} less ${reversedMicros}`,
      );
    if (reversedMicros < 0 || reversedMicros > creditedMicros)
      accuse('never more of a payment is given back than was credited', `${id}: ${reversedMicros}`);
  }

  /** What the key counts of the commit: what the commit credits, on the day of the request, within its cap. */
  function countsWithinItsCap(call: Call | undefined, changes: readonly Change[]): void {
    const rows = changes.filter(({ sk, before, after }) => sk.startsWith('LEDGER#') && !before && after);
    const added = rows.reduce((sum, { after }) => sum + Math.max(0, numberOf(after, 'amountMicros')), 0);
    const key = changes.find(({ sk }) => sk === 'OPERATOR_KEY');
    const days = Object.keys(key?.after ?? {}).filter(
      (name) => name.startsWith(credited) && numberOf(key?.after, name) > numberOf(key?.before, name),
    );
    const counted = days.reduce(
      (sum, name) => sum + numberOf(key?.after, name) - numberOf(key?.before, name),
      0,
    );
    if (counted !== (call ? added : 0))
      accuse('a key counts each credit in its commit', `${call?.id ?? ''}: ${counted}, not ${added}`);
    if (!call || !key || counted === 0) return;
    if (key.before?.['revokedAt']) accuse('a revoked operator key credits nothing', call.id);
    const cap = key.before?.['dailyCreditCapMicros']?.N;
    const slack = world.clocks.largestSkew();
    const possible = [-slack, slack].map((by) => `${credited}${dayOf(call.startedAt + by)}`);
    for (const name of days) {
      const sum = numberOf(key.after, name);
      if (!possible.includes(name)) accuse('a credit counts on its day', `${call.id}: ${name}`);
      if (cap !== undefined && sum > Number(cap))
        accuse('a key never credits above its daily cap', `${call.id}: ${sum} of ${cap}`);
    }
  }

  function rateIsKept({ pk, sk, after }: Change): void {
    if (!pk.startsWith('OPERATOR_KEY#') || !sk.startsWith('RATE#')) return;
    const [, kind = ''] = sk.split('#');
    const limit = numberOf(table()?.get(pk, 'OPERATOR_KEY'), kind === 'POST' ? 'postRate' : 'getRate');
    if (limit > 0 && numberOf(after, 'count') > limit)
      accuse('an operator key never sends above its rate', `${pk} ${sk}`);
  }

  /** The pointer of an external id and the account that has it name each other. */
  function externalIdsAreUnique(changes: readonly Change[]): void {
    for (const { pk, sk, before, after } of changes) {
      if (sk !== 'EXTERNAL' || (!before && !after)) continue;
      const id = pk.slice('EXTERNAL#'.length);
      if (after) externals.set(id, textOf(after, 'account'));
      else externals.delete(id);
      // Another account could take the id now, and this one still has it.
      const owner = after ? undefined : table()?.get(`ACCOUNT#${textOf(before, 'account')}`, 'ACCOUNT');
      if (textOf(owner, 'externalId') === id) accuse('an external id belongs to one account', id);
    }
    for (const { pk, sk, after } of changes) {
      const id = sk === 'ACCOUNT' ? textOf(after, 'externalId') : '';
      if (id !== '' && externals.get(id) !== pk.slice('ACCOUNT#'.length))
        accuse('an external id belongs to one account', `${id} of ${pk}`);
    }
  }

  function keepsCondition({ pk, sk, before }: Change): void {
    const old = sk === 'ACCOUNT' ? textOf(before, 'condition') : '';
    if (old !== '') heldUntil.set(`${pk} ${old}`, world.time.now());
  }

  /** Whether the account has this condition, or had it meanwhile. A write that changes nothing is no commit. */
  function hadCondition({ startedAt, body }: Call, pk: string, now: Item | undefined): boolean {
    const wanted = String(body['condition']);
    return textOf(now, 'condition') === wanted || (heldUntil.get(`${pk} ${wanted}`) ?? 0) >= startedAt;
  }

  function conditionIsFirst(call: Call, { pk, sk, before }: Change, isCondition: boolean): void {
    if (call.name !== 'changeAccount' || call.body['condition'] === undefined || sk !== 'ACCOUNT') return;
    if (!isCondition && !hadCondition(call, pk, before))
      accuse('a PATCH stores its condition before anything else', `${call.id} ${call.name}`);
  }

  function followWrite(call: Call, change: Change): void {
    const { pk, sk, before, after } = change;
    if (sk.startsWith('RATE#')) call.isCounted = true;
    if (pk === 'SERVICE' && sk.startsWith('ACTION#')) {
      const isOwn =
        textOf(after, 'action') === call.name && after?.['operatorKey']?.M?.['id']?.S === call.key;
      if (!isOwn) accuse('every change has its row in the log', `${call.id} wrote ${sk}`);
      call.outcome = textOf(after, 'outcome');
    }
    const isCount =
      sk === 'OPERATOR_KEY' &&
      !Object.keys(after ?? {}).some(
        (name) => name.startsWith(credited) && numberOf(after, name) !== numberOf(before, name),
      );
    if (isCount || harmless.has(kindOf(change)) || changesNothing(change)) return;
    const isCondition = sk === 'ACCOUNT' && textOf(before, 'condition') !== textOf(after, 'condition');
    conditionIsFirst(call, change, isCondition);
    if (call.outcome === undefined) accuse('an action is noted before it begins', `${call.id} wrote ${sk}`);
    call.wrote.add(isCondition ? 'CONDITION' : kindOf(change));
    refusalChangesNothing(call);
  }

  /** An effect of a request with an Idempotency-Key, which its own commit remembers. */
  function followEffect(call: Call, changes: readonly Change[]): void {
    if (call.idempotencyKey === undefined) return;
    const own = `${call.key} ${call.idempotencyKey}`;
    const isRemembered = changes.some(
      ({ pk, sk }) => pk === `OPERATOR_KEY#${call.key}` && sk.startsWith('IDEMPOTENCY#'),
    );
    const isEffect = changes.some(
      ({ sk, before, after }) => !before && after && /^(LEDGER#|KEY#|ACCOUNT$)/.test(sk),
    );
    if (isEffect && !isRemembered) accuse('the commit of an effect remembers its Idempotency-Key', own);
    if (!isRemembered) return;
    if (effects.has(own)) accuse('equal requests with one Idempotency-Key have one effect', own);
    effects.set(own, requestOf(call));
  }

  function refusalChangesNothing({ id, name, refusedWith, wrote, body }: Call): void {
    if (refusedWith === undefined) return;
    // The condition is stored first, whatever becomes of the rest.
    const left = [...wrote].filter((kind) => kind !== 'CONDITION' || body['condition'] === undefined);
    if (left.length > 0)
      accuse('a refusal changes nothing', `${id} ${name} ${refusedWith} wrote ${left.join(', ')}`);
  }

  function leavesItsRow(call: Call, status: number, details: Body, faults: Invocation['faults']): void {
    const { method }: OperatorOperation = operatorOperations[call.name];
    const isOfRate = details['reason'] === 'account_rate';
    if (method === 'GET' || status === 401 || (silent.has(status) && !isOfRate)) return;
    const expected = status < 400 ? 'done' : 'refused';
    if (call.outcome === undefined || (call.outcome !== expected && call.outcome !== 'begun'))
      accuse(
        'every change has its row in the log',
        `${call.id} ${call.name} ${status}: ${call.outcome ?? ''}`,
      );
    // The service does not insist on noting how an action ended.
    else if (call.outcome === 'begun' && faults.length === 0)
      accuse('every change has its row in the log', `${call.id} ${call.name} ${status}: begun`);
  }

  function scopesAreKept({ id, name, scopes }: Call, status: number, details: Body): void {
    const { scope }: OperatorOperation = operatorOperations[name];
    const missing = memberOf(details, 'scope');
    if (status < 400 && !scopes.includes(scope))
      accuse('a key does what its scopes name, and no more', `${id} ${name} ${status}`);
    if (missing !== '' && scopes.includes(missing))
      accuse('a key does what its scopes name, and no more', `${id} ${name} lacks ${missing}`);
  }

  /** A request that found everything done before is not remembered: another one may have its key. */
  function namesTheSame(call: Call, isReplay: boolean, body: Body): void {
    if (call.idempotencyKey === undefined) return;
    const own = `${call.key} ${call.idempotencyKey}`;
    const request = requestOf(call);
    const id = memberOf(body, 'id');
    const first = named.get(`${own} ${request}`) ?? id;
    named.set(`${own} ${request}`, first);
    if (first !== id)
      accuse('equal requests with one Idempotency-Key have one effect', `${own}: ${first}, ${id}`);
    if (isReplay && effects.get(own) !== request)
      accuse('an Idempotency-Key stands for one request', `${call.id} ${own}`);
  }

  /** What the answer says is so, or was so meanwhile. */
  function answerIsStored(call: Call, status: number, body: Body): void {
    const { name, id } = call;
    const account = accountIn(call.path);
    const item = table()?.get(`ACCOUNT#${account}`, 'ACCOUNT');
    if (name === 'createPayment' && !payments.has(memberOf(body, 'id')))
      accuse('an answered payment is stored', `${id}: ${status}`);
    const isChanged = name === 'changeAccount' && call.body['condition'] !== undefined;
    if (isChanged && !hadCondition(call, `ACCOUNT#${account}`, item))
      accuse('an answered condition was stored', `${id}: ${textOf(item, 'condition')}`);
    const { rows, sumMicros } = books.ledgerOf(account);
    const isWallet = name === 'getWallet' && rows === call.rowsBefore;
    if (isWallet && Math.round(Number(body['available']) * 1_000_000) !== sumMicros)
      accuse('the balance told is the ledger’s', `${id}: ${account}`);
  }

  return {
    onSent: (invocation: Invocation, event: APIGatewayProxyEventV2): void => {
      const key = (event.headers['authorization'] ?? '').slice('Bearer dk_op_'.length).slice(0, 10);
      const item = table()?.get(`OPERATOR_KEY#${key}`, 'OPERATOR_KEY');
      calls.set(invocation.id, {
        id: invocation.id,
        name: event.routeKey as OperatorOperationName,
        key,
        scopes: (item?.['scopes']?.L ?? []).map((scope) => scope.S ?? ''),
        path: event.rawPath,
        body: bodyOf(event.body),
        idempotencyKey: event.headers['idempotency-key'],
        startedAt: world.time.now(),
        rowsBefore: books.ledgerOf(accountIn(event.rawPath)).rows,
        wrote: new Set(),
        isCounted: false,
      });
    },
    onServed: (
      { id, faults }: Invocation,
      { statusCode: status = 0, headers = {}, body: text = '' }: APIGatewayProxyStructuredResultV2,
    ): void => {
      const call = calls.get(id);
      // The gateway has answered, because the function died.
      if (!call || Object.keys(headers).length === 0) return;
      const body = bodyOf(text);
      const { method, path }: OperatorOperation = operatorOperations[call.name];
      const exchange = { method, path: path.replaceAll(/[{}]/g, ''), sent: call.body, status, body };
      const told = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
      for (const finding of undocumented({ ...exchange, headers: new Headers(told) }))
        accuse('every answer is as docs/operator-openapi.json documents it', `${finding}: ${text}`);
      if (status !== 401 && !silent.has(status) && !call.isCounted)
        accuse('an operator key never sends above its rate', `${id} was not counted`);
      const details = detailsOf(text) ?? {};
      leavesItsRow(call, status, details, faults);
      scopesAreKept(call, status, details);
      const isReplay = headers['idempotent-replayed'] === 'true';
      if (status < 300) namesTheSame(call, isReplay, body);
      if (status < 300) answerIsStored(call, status, body);
      if (status >= 400 && status < 500 && !faults.some(({ kind }) => arrivesLater.has(kind)))
        call.refusedWith = status;
      refusalChangesNothing(call);
    },
    /** An answer came back. @param asked what the back end knew when it sent the request */
    onAnswer: (
      asked: {
        readonly operation: OperatorOperationName;
        readonly mayBeRefused: boolean;
        readonly mustBeRefused: boolean;
      },
      { statusCode: status = 0 }: APIGatewayProxyStructuredResultV2,
    ): void => {
      if (status === 401 && !asked.mayBeRefused) accuse('a valid operator key is let in', asked.operation);
      if (asked.mustBeRefused && status !== 401 && !silent.has(status))
        accuse('a revoked operator key is refused', `${asked.operation} ${status}`);
    },
    /** Forgets all commits. */
    restart: (): void => {
      for (const one of [moved, payments, heldUntil, externals]) one.clear();
    },
    onCommit: (changes: readonly Change[]): void => {
      const call = calls.get(world.current()?.id ?? '');
      for (const { pk, sk, before, after } of changes)
        if (sk.startsWith('LEDGER#') && !before && after) followRow(pk, after, call, changes);
      for (const { sk, after } of changes) if (sk.startsWith('PAYMENT#') && after) paymentIsItsRows(after);
      countsWithinItsCap(call, changes);
      externalIdsAreUnique(changes);
      for (const change of changes) {
        rateIsKept(change);
        if (call) followWrite(call, change);
        keepsCondition(change);
      }
      if (!call) return;
      followEffect(call, changes);
    },
  };
}

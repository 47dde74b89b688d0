import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import type { AwsCall, AwsOutput } from './aws-call.ts';
import { AnswerLost, AwsError } from './aws-error.ts';
import { answerOfFault, conflictingOperations, faultErrors } from './fault-errors.ts';

export const faultSchema = z
  .strictObject({
    /** `service:Operation`. `*` stands for every operation of the service. */
    call: z
      .string()
      .regex(
        /^(dynamodb|states|secretsmanager|s3|lambda|sns|apigateway):(\*|[A-Z]\w*)$/,
        'must be service:Operation, as in dynamodb:TransactWriteItems',
      ),
    /** Part of the caller's name. Without a value the fault concerns every caller. */
    caller: z.string().min(1).optional(),
    error: z.enum(faultErrors),
    /** With `after` the call takes effect and its answer is lost. */
    when: z.enum(['before', 'after']).default('before'),
    /** Once by default, or without end for `every`, `share` and index-lag. */
    times: z.int().positive().optional(),
    /** The fault strikes every n-th matching call. */
    every: z.int().positive().optional(),
    /** The fault strikes this share of the matching calls, evenly spread. */
    share: z.number().gt(0).max(1).optional(),
    /** Text that must occur in the JSON of the input. */
    match: z.string().min(1).optional(),
    /** Only for `hang`: the real seconds after which the call continues. Without them it never does. */
    seconds: z.number().positive().max(3_600).optional(),
  })
  .refine((fault) => fault.every === undefined || fault.share === undefined, {
    path: ['share'],
    message: 'cannot stand beside every',
  })
  .refine((fault) => fault.error !== 'index-lag' || fault.call.startsWith('dynamodb:'), {
    path: ['call'],
    message: 'must be dynamodb:* for an index that lags',
  })
  .refine((fault) => fault.error !== 'UnprocessedKeys' || fault.call.startsWith('dynamodb:Batch'), {
    path: ['call'],
    message: 'must be a batch operation of dynamodb for UnprocessedKeys',
  })
  .refine((fault) => fault.error !== 'TransactionConflict' || canConflict(fault.call), {
    path: ['call'],
    message: `must be dynamodb:* or dynamodb:X for TransactionConflict, where X is ${conflictingOperations.join(', ')}`,
  })
  .refine((fault) => fault.error !== 'hang' || !fault.call.startsWith('apigateway:'), {
    path: ['call'],
    message: 'must be a call of an AWS service for hang',
  })
  .refine((fault) => fault.seconds === undefined || fault.error === 'hang', {
    path: ['seconds'],
    message: 'is for hang only',
  });

function canConflict(call: string): boolean {
  const [service, operation = ''] = call.split(':', 2);
  return service === 'dynamodb' && (operation === '*' || conflictingOperations.includes(operation));
}

export type Fault = z.output<typeof faultSchema>;

export interface FaultState extends Fault {
  readonly seen: number;
  readonly struck: number;
}

export interface Faults {
  /** Checks the fault with faultSchema and switches it on. Throws an Error that names the wrong field. */
  readonly set: (fault: unknown) => void;
  /** The faults that can still strike. */
  readonly list: () => readonly FaultState[];
  readonly clear: () => void;
  /** Whether a fault of the call apigateway:Invoke lets the API's own throttle refuse this request. */
  readonly throttlesRequest: () => boolean;
  /** Runs the call under the faults. Throws the fault's error. Only the first fault that is due strikes. */
  readonly apply: (call: AwsCall, run: (call: AwsCall) => Promise<AwsOutput>) => Promise<AwsOutput>;
}

interface Switch {
  readonly fault: Fault;
  readonly times: number;
  seen: number;
  struck: number;
}

/** A call of an AWS service, or a request to the API itself. */
type Call = Omit<AwsCall, 'service'> & { readonly service: AwsCall['service'] | 'apigateway' };

/** The effects of faults on the process and on time. Tests replace them. */
export interface FaultMeans {
  /** Ends the process as a power cut does. */
  readonly kill: () => void;
  readonly wait: (seconds: number) => Promise<void>;
}

const realMeans: FaultMeans = {
  kill: () => process.kill(process.pid, 'SIGKILL'),
  // A call that hangs must not keep the process alive when the service ends.
  wait: async (seconds) => setTimeout(seconds * 1000, undefined, { ref: false }),
};

export function createFaults(means: Partial<FaultMeans> = {}): Faults {
  const { kill, wait } = { ...realMeans, ...means };
  let switches: Switch[] = [];
  const canStrike = (one: Switch): boolean => one.struck < one.times;

  function nextFor(call: Call): Fault | undefined {
    for (const one of switches) {
      if (one.fault.error === 'index-lag' || !canStrike(one) || !concerns(one.fault, call)) continue;
      one.seen += 1;
      if (!isDue(one)) continue;
      one.struck += 1;
      return one.fault;
    }
    return undefined;
  }

  return {
    set: (input) => {
      const fault = parseFault(input);
      const endless = fault.every !== undefined || fault.share !== undefined || fault.error === 'index-lag';
      switches.push({
        fault,
        times: fault.times ?? (endless ? Number.POSITIVE_INFINITY : 1),
        seen: 0,
        struck: 0,
      });
    },
    list: () => switches.filter(canStrike).map(({ fault, seen, struck }) => ({ ...fault, seen, struck })),
    clear: () => {
      switches = [];
    },
    throttlesRequest: () =>
      nextFor({ service: 'apigateway', operation: 'Invoke', caller: '', input: {} }) !== undefined,
    apply: async (call, run) => {
      const lags = call.service === 'dynamodb' && switches.some((one) => one.fault.error === 'index-lag');
      const seen: AwsCall = lags ? { ...call, indexesLag: true } : call;
      const fault = nextFor(call);
      if (fault === undefined) return run(seen);
      if (fault.error === 'hang') return hang(fault, () => run(seen), wait);
      if (fault.when === 'after') await takeEffect(run(seen));
      return strike(fault, call, kill);
    },
  };
}

function parseFault(input: unknown): Fault {
  const parsed = faultSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new Error(
    parsed.error.issues.map((issue) => `${issue.path.join('.') || 'fault'}: ${issue.message}`).join('; '),
  );
}

function concerns(fault: Fault, call: Call): boolean {
  const [service, operation] = fault.call.split(':', 2);
  return (
    service === call.service &&
    (operation === '*' || operation === call.operation) &&
    // DynamoDB's plain reads never meet a conflict, so dynamodb:* does not concern them.
    (fault.error !== 'TransactionConflict' || conflictingOperations.includes(call.operation)) &&
    (fault.caller === undefined || call.caller.includes(fault.caller)) &&
    (fault.match === undefined || inputText(call).includes(fault.match))
  );
}

/** The input as text, without an object's bytes. */
function inputText(call: Call): string {
  return JSON.stringify({ ...call.input, Body: undefined });
}

/** Whether the fault strikes the call that was just counted. Nothing is random, so runs repeat. */
function isDue({ fault, seen }: Switch): boolean {
  if (fault.every !== undefined) return seen % fault.every === 0;
  if (fault.share !== undefined) return Math.floor(seen * fault.share) > Math.floor((seen - 1) * fault.share);
  return true;
}

/** Lets the call take effect and drops its answer. A refusal is dropped like a success. */
async function takeEffect(answer: Promise<AwsOutput>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (!(error instanceof AwsError) && !(error instanceof AnswerLost)) throw error;
  }
}

/** Keeps the connection open without an answer, for `seconds` or until the caller ends the connection. */
async function hang(
  { when, seconds }: Fault,
  run: () => Promise<AwsOutput>,
  wait: FaultMeans['wait'],
): Promise<AwsOutput> {
  const serve = when === 'after' ? settled(run()) : run;
  if (seconds === undefined) return new Promise<never>(() => undefined);
  await wait(seconds);
  return serve();
}

/** Keeps the outcome of work that has begun, for a caller who asks for it later. */
function settled(work: Promise<AwsOutput>): () => Promise<AwsOutput> {
  // Without this, Node would report an unhandled rejection before the caller asks for the outcome.
  work.catch(() => undefined);
  return () => work;
}

function strike({ error }: Fault, call: AwsCall, kill: () => void): AwsOutput | Promise<never> {
  if (error === 'index-lag' || error === 'hang') throw new Error(`a call is not answered by ${error}`);
  if (error !== 'kill') return answerOfFault(error, call);
  kill();
  return Promise.reject(new AnswerLost());
}

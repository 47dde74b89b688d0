import { setTimeout } from 'node:timers/promises';
import * as z from 'zod';
import type { AwsCall, AwsOutput } from './aws-call.ts';
import { AnswerLost, AwsError } from './aws-error.ts';
import { answerOfFault, conflictingOperations, faultErrors } from './fault-errors.ts';

/** A fault switch as it is set. Unknown members are refused, so that a typo does not switch on something else. */
export const faultSchema = z
  .strictObject({
    /** `service:Operation`; `*` for every operation of the service. */
    call: z
      .string()
      .regex(
        /^(dynamodb|states|secretsmanager|s3|apigateway):(\*|[A-Z]\w*)$/,
        'must be service:Operation, as in dynamodb:TransactWriteItems',
      ),
    /** Part of the caller's name; every caller without it. */
    caller: z.string().min(1).optional(),
    error: z.enum(faultErrors),
    /** `after`: the call takes effect and its answer is lost. */
    when: z.enum(['before', 'after']).default('before'),
    /** How often it strikes; once unless told, without end with `every`, `share` or an index that lags. */
    times: z.int().positive().optional(),
    /** Strikes every n-th matching call. */
    every: z.int().positive().optional(),
    /** Strikes this share of the matching calls, evenly spread. */
    share: z.number().gt(0).max(1).optional(),
    /** Text that must occur in the JSON of the input. */
    match: z.string().min(1).optional(),
    /** For `hang`: the call goes on after this many real seconds. Without a value it is never answered. */
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

/** A fault switch with its defaults filled in. */
export type Fault = z.output<typeof faultSchema>;

/** A fault with what it has done so far. */
export interface FaultState extends Fault {
  /** Matching calls seen. */
  readonly seen: number;
  /** Calls it struck. */
  readonly struck: number;
}

/** The fault switches of the local AWS. */
export interface Faults {
  /** Switches a fault on, checked by faultSchema. Throws an Error that names the field that is wrong. */
  readonly set: (fault: unknown) => void;
  /** The faults that can still strike. */
  readonly list: () => readonly FaultState[];
  readonly clear: () => void;
  /** Whether the API's own throttle refuses this request: a fault of the call apigateway:Invoke. */
  readonly throttlesRequest: () => boolean;
  /** Runs the call as the faults have it. Throws the fault's error. Only the first fault that is due strikes. */
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

/** What faults do to the process and with time; tests replace it. */
export interface FaultMeans {
  /** Ends the process as a power cut would. */
  readonly kill: () => void;
  /** Waits this many real seconds. */
  readonly wait: (seconds: number) => Promise<void>;
}

const realMeans: FaultMeans = {
  kill: () => process.kill(process.pid, 'SIGKILL'),
  // A call that hangs does not keep a service alive that wants to end.
  wait: async (seconds) => setTimeout(seconds * 1000, undefined, { ref: false }),
};

/** Makes the switches, all off. */
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
    // DynamoDB's plain reads never meet a conflict, so that dynamodb:* leaves them alone.
    (fault.error !== 'TransactionConflict' || conflictingOperations.includes(call.operation)) &&
    (fault.caller === undefined || call.caller.includes(fault.caller)) &&
    (fault.match === undefined || inputText(call).includes(fault.match))
  );
}

/** An object's bytes are no text to look for. */
function inputText(call: Call): string {
  return JSON.stringify({ ...call.input, Body: undefined });
}

/** No dice: the same calls meet the same faults in every run. */
function isDue({ fault, seen }: Switch): boolean {
  if (fault.every !== undefined) return seen % fault.every === 0;
  if (fault.share !== undefined) return Math.floor(seen * fault.share) > Math.floor((seen - 1) * fault.share);
  return true;
}

/** An answer that says no is lost like one that says yes. */
async function takeEffect(answer: Promise<AwsOutput>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (!(error instanceof AwsError) && !(error instanceof AnswerLost)) throw error;
  }
}

/** The connection stays open without an answer: for `seconds`, or until the caller ends the connection. */
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

/** Gives the outcome of work that has begun to a caller who asks for the outcome later. */
function settled(work: Promise<AwsOutput>): () => Promise<AwsOutput> {
  // A refusal that nobody has asked for yet is no unhandled rejection.
  work.catch(() => undefined);
  return () => work;
}

function strike({ error }: Fault, call: AwsCall, kill: () => void): AwsOutput | Promise<never> {
  if (error === 'index-lag' || error === 'hang') throw new Error(`a call is not answered by ${error}`);
  if (error !== 'kill') return answerOfFault(error, call);
  kill();
  return Promise.reject(new AnswerLost());
}

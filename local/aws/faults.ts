import * as z from 'zod';
import type { AwsCall, AwsOutput } from './aws-call.ts';
import { AnswerLost, AwsError } from './aws-error.ts';
import { answerOfFault, FAULT_ERRORS } from './fault-errors.ts';

/** A fault switch as it is set. Unknown members are refused, so that a typo does not switch on something else. */
export const faultSchema = z.strictObject({
  /** `service:Operation`; `*` for every operation of the service. */
  call: z.string().regex(/^(dynamodb|states|secretsmanager|s3|apigateway):(\*|[A-Z]\w*)$/, 'must be service:Operation, as in dynamodb:TransactWriteItems'),
  /** Part of the caller's name; every caller without it. */
  caller: z.string().min(1).optional(),
  error: z.enum(FAULT_ERRORS),
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
}).refine((fault) => fault.every === undefined || fault.share === undefined, { path: ['share'], message: 'cannot stand beside every' })
  .refine((fault) => fault.error !== 'index-lag' || fault.call.startsWith('dynamodb:'), { path: ['call'], message: 'must be dynamodb:* for an index that lags' })
  .refine((fault) => fault.error !== 'UnprocessedKeys' || fault.call.startsWith('dynamodb:Batch'), { path: ['call'], message: 'must be a batch operation of dynamodb for UnprocessedKeys' })
  .refine((fault) => fault.error !== 'TransactionConflict' || fault.call.startsWith('dynamodb:'), { path: ['call'], message: 'must be a dynamodb operation for TransactionConflict' });

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
  /** Runs the call as the faults have it. Throws the fault's error. The first fault that is due strikes, no other. */
  /** Whether the API's own throttle refuses this request: a fault of the call apigateway:Invoke. */
  readonly throttlesRequest: () => boolean;
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

/** Makes the switches, all off. `kill` ends the process as a power cut would; tests replace it. */
export function createFaults(kill: () => void = () => process.kill(process.pid, 'SIGKILL')): Faults {
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
      switches.push({ fault, times: fault.times ?? (endless ? Number.POSITIVE_INFINITY : 1), seen: 0, struck: 0 });
    },
    list: () => switches.filter(canStrike).map(({ fault, seen, struck }) => ({ ...fault, seen, struck })),
    clear: () => { switches = []; },
    throttlesRequest: () => nextFor({ service: 'apigateway', operation: 'Invoke', caller: '', input: {} }) !== undefined,
    apply: async (call, run) => {
      const lags = call.service === 'dynamodb' && switches.some((one) => one.fault.error === 'index-lag');
      const seen: AwsCall = lags ? { ...call, indexesLag: true } : call;
      const fault = nextFor(call);
      if (fault === undefined) return run(seen);
      if (fault.when === 'after') await takeEffect(run(seen));
      return strike(fault, call, kill);
    },
  };
}

function parseFault(input: unknown): Fault {
  const parsed = faultSchema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.') || 'fault'}: ${issue.message}`).join('; '));
}

function concerns(fault: Fault, call: Call): boolean {
  const [service, operation] = fault.call.split(':', 2);
  return service === call.service
    && (operation === '*' || operation === call.operation)
    && (fault.caller === undefined || call.caller.includes(fault.caller))
    && (fault.match === undefined || inputText(call).includes(fault.match));
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

function strike({ error }: Fault, call: AwsCall, kill: () => void): AwsOutput | Promise<never> {
  if (error === 'index-lag') throw new Error('an index that lags strikes no call');
  if (error !== 'kill') return answerOfFault(error, call);
  kill();
  return Promise.reject(new AnswerLost());
}

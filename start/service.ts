/** The service on one machine, with its demo account: what `npm start`, the demo and the tests run. */
import { resolve } from 'node:path';
import { systemClock } from '../adapters/system-clock.ts';
import { startOneMachine, type MachineEvent, type OneMachine } from '../local/one-machine.ts';
import { addressOf } from '../admin/service-address.ts';
import { operatorServices, type OperatorServices } from '../admin/services.ts';
import { demoAccount, type DemoAccount } from './demo-account.ts';
import { synthesizedTemplate } from './synthesized-template.ts';
import { verifyWebhook } from './verify-webhook.ts';

export interface ServiceOptions {
  readonly folder: string;
  /** 0: a free one. */
  readonly port: number;
  /** A synthesized template to serve instead of this checkout's, its bundles beside it. */
  readonly templatePath?: string;
  /** The deployed rules for webhook and image addresses; otherwise this machine is allowed, too. */
  readonly strictOutbound: boolean;
  /** Settings of the stack to be tried otherwise, by their variable. */
  readonly environment?: Readonly<Record<string, string>>;
  /** False: functions are made ready at their first request. */
  readonly warm?: boolean;
  /** Lines that tell what takes long. */
  readonly onProgress?: (line: string) => void;
  /** One structured line of a function's log. */
  readonly onLog?: (line: string) => void;
  readonly onEvent?: (event: MachineEvent) => void;
}

export interface RunningService {
  readonly machine: OneMachine;
  readonly operator: OperatorServices;
  readonly demo: DemoAccount;
}

/** Throws what startOneMachine throws: a folder or port in use among it. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const templatePath = options.templatePath ?? (await synthesizedTemplate(options.onProgress));
  const folder = resolve(options.folder);
  const running: { operator?: OperatorServices } = {};
  const machine = await startOneMachine({
    templatePath,
    folder,
    port: options.port,
    warm: options.warm ?? true,
    environment: {
      TOP_UP_URL: '{origin}/_local/wallet',
      ...(!options.strictOutbound && { OUTBOUND_RULES: 'loopback-too' }),
      ...options.environment,
    },
    // A webhook of before a restart can come in while the adapters are still being opened.
    verifyWebhook: async (webhook) =>
      running.operator
        ? verifyWebhook(webhook, running.operator)
        : Promise.resolve({ verified: false, detail: 'came before the service was ready' }),
    onLog: ({ line }) => options.onLog?.(line),
    ...(options.onEvent && { onEvent: options.onEvent }),
  });
  const { outputs } = machine.template;
  const address = {
    ...addressOf((name) => outputs[name] ?? ''),
    outboundRules: options.strictOutbound ? 'public' : 'loopback-too',
    endpoint: machine.awsUrl,
  } as const;
  const operator = operatorServices(address, { ...systemClock, now: () => machine.clock.now() });
  running.operator = operator;
  return { machine, operator, demo: await demoAccount(folder, operator) };
}

/** Starts the service on one machine with its demo account. */
import { resolve } from 'node:path';
import { addressOf, operatorServices, type OperatorServices } from '../admin/services.ts';
import type { OnWriteFailed } from '../local/disk.ts';
import { type MachineEvent, type OneMachine, startOneMachine } from '../local/one-machine.ts';
import { localStripeKey, localStripeSecret, stripePath } from '../local/stripe/local-stripe.ts';
import type { PaymentSettings } from '../service/contract/payment-settings.ts';
import { systemClock } from '../service/aws/clock.ts';
import { openaiModelNames } from '../service/contract/operations.ts';
import { demoAccount, type DemoAccount, inviteDemoPerson, knownAddresses } from './demo-account.ts';
import { synthesizedTemplate } from './synthesized-template.ts';
import { verifyWebhook } from './verify-webhook.ts';

export interface ServiceOptions {
  readonly folder: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Another synthesized template than that of this checkout, with its bundles in the same folder. */
  readonly templatePath?: string;
  /** Whether webhooks and source images follow the deployed rules, or may use addresses of this machine. */
  readonly strictOutbound: boolean;
  /** The address at which vendors reach this machine. Absent: vendors get no address for callbacks. */
  readonly publicUrl?: string;
  /** 'none': the service has no key of Stripe. */
  readonly payments?: 'none';
  /** Other values for environment variables of the functions. */
  readonly environment?: Readonly<Record<string, string>>;
  /** How long a transaction of DynamoDB holds its items, in real milliseconds. The default is 0. */
  readonly transactionHoldMillis?: number;
  /** Below these free bytes of the folder's disk the service takes no new work. The default is 0. */
  readonly minFreeBytes?: number;
  /** The free bytes of the folder's disk, for tests. */
  readonly freeBytes?: (folder: string) => number;
  /** false: a function with a schedule runs only in an advance of the clock. The default is true. */
  readonly firesByItself?: boolean;
  /** A record could not be kept. The caller must end the process. The default throws, which ends the process. */
  readonly onWriteFailed?: OnWriteFailed;
  /** Gets a line about each step that takes long. */
  readonly onProgress?: (line: string) => void;
  /** Gets each structured line of the functions' logs. */
  readonly onLog?: (line: string) => void;
  readonly onEvent?: (event: MachineEvent) => void;
}

export interface RunningService {
  readonly machine: OneMachine;
  readonly operator: OperatorServices;
  readonly demo: DemoAccount;
}

/** The portal of one machine. A person pays nobody here, so the page of the wallet shows whom to ask. */
const portalSettings = {
  emails_are_verified: false,
  has_auth_time: true,
  payment_url: null,
  takes_payments: true,
  contact: 'Ask the person who runs this machine.',
  credentials_url: null,
  inbox_url: '{origin}/_local/inbox',
};

/** On this machine the fake replaces Stripe. */
const localPayments: PaymentSettings = {
  base_url: `{origin}${stripePath}`,
  automatic_tax: false,
  tax_ids: false,
  invoices: false,
  suspend_on_dispute: false,
};

/** A person may have given the service another key since an earlier start. */
async function setLocalStripe(operator: OperatorServices): Promise<void> {
  const { secret } = operator.payments();
  if ((await secret.read()).key === undefined)
    await secret.write({ key: localStripeKey, webhook_secrets: [localStripeSecret] });
}

/** No vendor has a key here, so the names of OpenAI's models lead to the sandbox. */
const openaiAliases = Object.fromEntries(openaiModelNames.map((name) => [name, 'sandbox-standard']));

/** Throws when the folder or the port is in use, and every other error of startOneMachine. */
export async function startService(options: ServiceOptions): Promise<RunningService> {
  const templatePath = options.templatePath ?? (await synthesizedTemplate(options.onProgress));
  const folder = resolve(options.folder);
  const running: { operator?: OperatorServices } = {};
  const machine = await startOneMachine({
    templatePath,
    folder,
    port: options.port,
    environment: {
      TOP_UP_URL: '{origin}/portal/wallet',
      SANDBOX: 'on',
      PORTAL_ISSUER: '{origin}/_local/issuer',
      // The user pool of the template has no stand-in. An invited person signs in at the local issuer.
      USER_POOL_ID: '',
      OPENAI_ALIASES: JSON.stringify(openaiAliases),
      PORTAL_SETTINGS: JSON.stringify(portalSettings),
      PAYMENT_SETTINGS: JSON.stringify(localPayments),
      CALLBACK_BASE_URL: options.publicUrl ?? '',
      ...(!options.strictOutbound && { OUTBOUND_RULES: 'loopback-too' }),
      ...options.environment,
    },
    // A webhook of the last start can arrive before the operator's services exist.
    verifyWebhook: async (webhook) =>
      running.operator
        ? verifyWebhook(webhook, running.operator)
        : Promise.resolve({ verified: false, detail: 'came before the service was ready' }),
    people: async () => (running.operator ? knownAddresses(running.operator) : []),
    transactionHoldMillis: options.transactionHoldMillis ?? 0,
    minFreeBytes: options.minFreeBytes ?? 0,
    ...(options.firesByItself === false && { firesByItself: false }),
    ...(options.freeBytes && { freeBytes: options.freeBytes }),
    ...(options.onWriteFailed && { onWriteFailed: options.onWriteFailed }),
    onLog: ({ line }) => options.onLog?.(line),
    ...(options.onEvent && { onEvent: options.onEvent }),
  });
  const { outputs } = machine.template;
  const stated = addressOf((name) => outputs[name] ?? '');
  const settings = JSON.stringify(localPayments).replaceAll('{origin}', new URL(machine.localUrl).origin);
  const address = {
    ...stated,
    payments: { ...stated.payments, settings },
    portalUrl: machine.portalUrl,
    outboundRules: options.strictOutbound ? 'public' : 'loopback-too',
    endpoint: machine.awsUrl,
  } as const;
  const operator = operatorServices(address, { ...systemClock, now: () => machine.clock.now() });
  running.operator = operator;
  if (operator.takesPayments && options.payments !== 'none') await setLocalStripe(operator);
  const demo = await demoAccount(folder, operator);
  await inviteDemoPerson(demo.accountId, `${machine.localUrl}/issuer`, operator);
  return { machine, operator, demo };
}

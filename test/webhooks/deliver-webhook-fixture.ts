/** DeliverWebhook over fakes of its ports: one creation with a webhook, and what became of one attempt. */
import type { SealedSecret } from '../../service/accounts/account.ts';
import type { CreationStore } from '../../service/creations/creation-store.ts';
import type { CreationRecord, WebhookState } from '../../service/creations/creation.ts';
import type { NoticeStore } from '../../service/notices/notice-store.ts';
import type { Outbound, PostResult } from '../../service/outbound/outbound.ts';
import { Overloaded } from '../../service/values/errors.ts';
import { schema } from '../../service/values/runtime.ts';
import type { DeliveryStore } from '../../service/webhooks/delivery-store.ts';
import type { DeliveringAccount, Delivery, DeliveryClaim } from '../../service/webhooks/delivery.ts';
import type { DeliveryServices } from '../../service/webhooks/open.ts';
import { type SecretBox, SecretLost } from '../../service/webhooks/secret-box.ts';
import { webhookSecret } from '../../service/webhooks/webhook.ts';
import { fakeClock, type FakeClock, fakeLog, type FakeLog, stub } from '../api/fakes.ts';
import { aCompletedCreation, creationId, now, seededBytes } from '../fixtures/records.ts';
import { without } from '../fixtures/values.ts';
import { resultsOfTests } from '../fixtures/records.ts';

export const payload = { creation_id: creationId };
export const [current, previous] = [
  webhookSecret(new Uint8Array(32).fill(1)),
  webhookSecret(new Uint8Array(32).fill(2)),
];
/** The answer of a receiver that accepts the webhook. */
export const ok = {
  kind: 'answered',
  status: 200,
  excerpt: 'thanks',
  headers: {},
} as const satisfies PostResult;

interface Sent {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Stage {
  readonly services: DeliveryServices;
  readonly clock: FakeClock;
  readonly log: FakeLog;
  readonly steps: string[];
  readonly claims: DeliveryClaim[];
  readonly sent: Sent[];
  readonly settled: { readonly delivery: Delivery; readonly next: Parameters<DeliveryStore['settle']>[1] }[];
}

export interface Setting {
  readonly webhook?: Partial<WebhookState>;
  /** null: the table has no creation. */
  readonly creation?: Partial<CreationRecord> | null;
  /** A member that the creation does not have. */
  readonly lacks?: 'webhook' | 'completedAt';
  readonly secrets?: readonly SealedSecret[];
  readonly isClaimed?: boolean;
  /** Sealed secrets that nobody can open. */
  readonly lost?: readonly string[];
  /** What the receiver answers, after so many milliseconds. */
  readonly answer?: PostResult;
  readonly takes?: number;
  readonly at?: number;
  /** Of an account that gets notices. */
  readonly failures?: DeliveringAccount['failures'];
  /** The number of failed attempts in a row, with this one. */
  readonly countsTo?: number;
  /** Whether the check of thresholds finds the table busy. */
  readonly isCheckBusy?: boolean;
}

/** An attempt that became due five seconds ago, unless the test says otherwise. */
export function stage(setting: Setting = {}): Stage {
  const {
    secrets = [{ sealed: current, issuedAt: 0 }],
    isClaimed = true,
    answer = ok,
    takes = 250,
    at = now + 5_000,
  } = setting;
  const webhook: WebhookState = {
    url: 'https://hooks.test/a',
    status: 'pending',
    attempts: 0,
    nextAt: now,
    ...setting.webhook,
  };
  const [steps, claims, sent, settled]: [string[], DeliveryClaim[], Sent[], Stage['settled']] = [
    [],
    [],
    [],
    [],
  ];
  const whole = aCompletedCreation({ webhook, ...setting.creation });
  const creation = setting.lacks === undefined ? whole : without(whole, setting.lacks);
  const clock = fakeClock(at);
  const log = fakeLog();
  const deliveries = stub<DeliveryStore>({
    deliveringAccount: async () =>
      Promise.resolve({ name: 'studio', secrets, ...(setting.failures && { failures: setting.failures }) }),
    countFailure: async () => {
      steps.push('count');
      return Promise.resolve(setting.countsTo ?? 1);
    },
    resetFailures: async () => Promise.resolve(void steps.push('reset')),
    claim: async (claim) => {
      steps.push('claim');
      claims.push(claim);
      return Promise.resolve(isClaimed);
    },
    settle: async (delivery, next) => {
      steps.push('settle');
      settled.push({ delivery, next });
      return Promise.resolve();
    },
    skip: async () => Promise.resolve(void steps.push('skip')),
    giveUp: async () => Promise.resolve(void steps.push('give up')),
  });
  const services = stub<DeliveryServices>({
    clock,
    log,
    schema,
    randomBytes: seededBytes,
    results: resultsOfTests,
    creations: stub<CreationStore>({
      read: async () => Promise.resolve(setting.creation === null ? undefined : creation),
    }),
    deliveries,
    notices: stub<NoticeStore>({
      readSpender: async (account, key) => {
        steps.push(`check ${account}${key === undefined ? '' : ` ${key}`}`);
        if (setting.isCheckBusy === true) return Promise.reject(new Overloaded('busy'));
        return Promise.resolve(undefined);
      },
    }),
    secretBox: stub<SecretBox>({
      open: async (_account, sealed) => {
        if (setting.lost?.includes(sealed)) throw new SecretLost('gone');
        return Promise.resolve(sealed);
      },
    }),
    outbound: stub<Outbound>({
      post: async (url, headers, body) => {
        steps.push('post');
        sent.push({ url, headers, body });
        clock.set(clock.now() + takes);
        return Promise.resolve(answer);
      },
    }),
  });
  return { services, clock, log, steps, claims, sent, settled };
}

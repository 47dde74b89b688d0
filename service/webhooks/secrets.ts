/**
 * The webhook secrets of an account over time: which secret signs, and which secrets receivers may still use.
 *
 *   issued ──▶ (pending until signsFrom) ──▶ signs ──▶ replaced ──▶ over, 24 h later
 *
 * The header webhook-signature has one value for every secret that is not over, also for a pending one.
 */
import type { SealedSecret } from '../accounts/account.ts';
import type { AccountId } from '../values/ids.ts';
import { type SecretBox, SecretLost } from './secret-box.ts';

/** How long a replaced secret verifies, from the moment at which the newer secret took over. */
export const replacedSecretSeconds = 24 * 60 * 60;

/** Of `webhooks rotate --sign-from`: seconds until the new secret signs X-Webhook-Signature-256. */
export const signFromSeconds = { now: 0, '1h': 60 * 60, '24h': 24 * 60 * 60 } as const;
export type SignFrom = keyof typeof signFromSeconds;

export interface SecretsNow {
  /** Makes X-Webhook-Signature-256. Undefined when no secret was issued. */
  readonly signing: SealedSecret | undefined;
  /** Issued, and does not sign yet. */
  readonly pending: readonly SealedSecret[];
  /** Replaced less than 24 h ago, the newest first. */
  readonly replaced: readonly SealedSecret[];
  /** Replaced 24 h ago or earlier. These sign nothing. */
  readonly over: readonly SealedSecret[];
}

/** @param stored the newest first, as the account holds them */
export function secretsAt(stored: readonly SealedSecret[], nowMillis: number): SecretsNow {
  const oldest = nowMillis - replacedSecretSeconds * 1000;
  const isOver = ({ replacedAt }: SealedSecret): boolean => replacedAt !== undefined && replacedAt <= oldest;
  const live = stored.filter((secret) => !isOver(secret));
  // The newest secret that is not pending. When a clock runs behind and all seem pending, the oldest secret
  // signs.
  const found = live.findIndex(({ signsFrom }) => signsFrom === undefined || signsFrom <= nowMillis);
  const place = found === -1 ? live.length - 1 : found;
  return {
    signing: live[place],
    pending: live.slice(0, Math.max(0, place)),
    replaced: live.slice(place + 1),
    over: stored.filter(isOver),
  };
}

/** The list after a rotation: the new secret first, which replaces the others at its time. */
export function rotated(
  stored: readonly SealedSecret[],
  sealed: string,
  from: SignFrom,
  nowMillis: number,
): readonly SealedSecret[] {
  const { signing, pending, replaced } = secretsAt(stored, nowMillis);
  const isLater = signing !== undefined && from !== 'now';
  const signsFrom = nowMillis + signFromSeconds[from] * 1000;
  const kept = [...pending, ...(signing ? [signing] : []), ...replaced];
  return [
    { sealed, issuedAt: nowMillis, ...(isLater && { signsFrom }) },
    ...kept.map((secret) => ({
      ...secret,
      replacedAt: Math.min(secret.replacedAt ?? Infinity, signsFrom),
    })),
  ];
}

/** True when a secret was replaced before it signed: no receiver has seen it in use. */
function neverSigned({ signsFrom, replacedAt }: SealedSecret): boolean {
  return signsFrom !== undefined && replacedAt !== undefined && signsFrom >= replacedAt;
}

export interface SigningSecrets {
  /** The key of X-Webhook-Signature-256. */
  readonly current: string;
  /** The key of X-Webhook-Signature-256-Previous: the newest replaced secret. Absent when none is valid. */
  readonly previous?: string;
  /** All secrets that a receiver may hold, the current one first: the keys of webhook-signature. */
  readonly valid: readonly string[];
  /** Secrets that can no longer be opened. They sign nothing, and an operator has to know of them. */
  readonly lost: readonly SealedSecret[];
}

/**
 * The secrets that sign now; undefined when none was issued. Throws SecretLost when the signing secret
 * cannot be opened any more, since nothing could be signed. Any other secret that is lost is left out.
 * An error that may pass (a throttle, no connection) is thrown for every secret: the delivery is tried
 * again soon, and a receiver that holds that secret can then verify it.
 */
export async function openSecrets(
  accountId: AccountId,
  stored: readonly SealedSecret[],
  secretBox: SecretBox,
  nowMillis: number,
): Promise<SigningSecrets | undefined> {
  const { signing, pending, replaced } = secretsAt(stored, nowMillis);
  if (!signing) return undefined;
  const open = async (secret: SealedSecret): Promise<Opened> => {
    try {
      return { secret, plain: await secretBox.open(accountId, secret.sealed) };
    } catch (error) {
      if (secret === signing || !(error instanceof SecretLost)) throw error;
      return { secret, plain: undefined };
    }
  };
  const opened = await Promise.all([signing, ...pending, ...replaced].map(open));
  const plainOf = new Map(opened.map(({ secret, plain }) => [secret, plain]));
  const previous = replaced
    .filter((secret) => !neverSigned(secret))
    .map((secret) => plainOf.get(secret))
    .find((plain) => plain !== undefined);
  return {
    current: plainOf.get(signing) ?? '',
    ...(previous !== undefined && { previous }),
    valid: opened.flatMap(({ plain }) => (plain === undefined ? [] : [plain])),
    lost: opened.filter(({ plain }) => plain === undefined).map(({ secret }) => secret),
  };
}

interface Opened {
  readonly secret: SealedSecret;
  /** Undefined when the secret is lost. */
  readonly plain: string | undefined;
}

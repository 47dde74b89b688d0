/** What a page shows without data: it loads, it is empty, or it failed. */
import type { ComponentChildren } from 'preact';
import type { Resource } from '../api/hooks.ts';
import type { Refusal } from '../api/call.ts';
import { href } from '../router.ts';
import { Button, Copy } from './basics.tsx';

export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="title">{title}</p>
      {children}
    </div>
  );
}

const waitText = (seconds: number): string =>
  seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`;

/** What the person can do, for each code. */
function advice(error: Refusal): ComponentChildren {
  switch (error.code) {
    case 'OFFLINE':
      return 'Check your connection. What you entered is still here.';
    case 'ERR_FORBIDDEN':
      if (error.details['is_member'] === false)
        return 'An owner of the account can invite you again. Your other accounts are still yours: reload the page.';
      if (error.lacksRole) return 'An owner of the account can give you another role, on the page People.';
      if (error.details['reason'] === 'origin') return 'Open the portal at its own address, and reload.';
      return undefined;
    case 'ERR_CONFLICT':
      // The other conflicts say in their message what to do.
      return error.isStale ? 'The page shows what is stored now. Check it, then save again.' : undefined;
    case 'ERR_INSUFFICIENT_BALANCE':
      return (
        <>
          See the <a href={href('/wallet')}>wallet</a>: what is available, and how to pay.
        </>
      );
    case 'ERR_RATE_LIMIT':
      return error.retryAfter === null
        ? 'Wait a moment, then try again.'
        : `Try again in ${waitText(error.retryAfter)}.`;
    case 'ERR_API_SUSPENDED':
      return 'The operator paused this account. Keys, webhooks and the wallet can be read and managed.';
    case 'ERR_SESSION_REQUIRED':
      return 'Sign in again.';
    case 'ERR_INTERNAL':
      return 'This is a fault of the service. Try again; if it stays, name the request id to the operator.';
    default:
      return undefined;
  }
}

export function Failed({ error, onRetry }: { error: Refusal; onRetry?: (() => void) | undefined }) {
  const help = advice(error);
  return (
    <div class="failed" role="alert">
      <p>{error.message}</p>
      {help !== undefined && <p class="help">{help}</p>}
      {error.requestId !== null && (
        <p class="help">
          Request <code>{error.requestId}</code> <Copy text={error.requestId} label="the request id" />
        </p>
      )}
      {onRetry && (
        <Button
          text={error.isStale ? 'Load the newest state' : 'Try again'}
          class="small"
          onClick={onRetry}
        />
      )}
    </div>
  );
}

/** The data of a resource, or else its state. A failed reload leaves the older data below its error. */
export function Loaded<Data>(props: {
  of: Resource<Data>;
  rows?: number;
  children: (data: Data) => ComponentChildren;
}) {
  const { of, rows, children } = props;
  const { data, error, reload } = of;
  return (
    <>
      {error && <Failed error={error} onRetry={reload} />}
      {data !== undefined ? children(data) : !error && <Loading {...(rows !== undefined && { rows })} />}
    </>
  );
}

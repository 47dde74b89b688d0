/** What several pages say of a key: its state, its last use, and what it spent of its caps. */
import type { KeyView } from '../../../../service/contract/portal-views.ts';
import { useNow } from '../../api/hooks.ts';
import { Badge, Meter, Money, Time } from '../../ui/basics.tsx';
import { money } from '../../words/figures.ts';

type Ended = Pick<KeyView, 'revoked_at' | 'expires_at'>;

const isExpired = ({ expires_at: at }: Ended): boolean => at !== null && Date.parse(at) <= Date.now();

export const isOver = (key: Ended): boolean => key.revoked_at !== null || isExpired(key);

export function KeyState({ of: key }: { of: Ended }) {
  if (key.revoked_at !== null) return <Badge tone="calm">revoked</Badge>;
  if (isExpired(key)) return <Badge tone="calm">expired</Badge>;
  return (
    <>
      <Badge tone="good">active</Badge>
      {key.expires_at !== null && (
        <p class="dim">
          ends <Time at={key.expires_at} form="relative" />
        </p>
      )}
    </>
  );
}

/** The service keeps the hour of the last use. */
export function LastUse({ at }: { at: string | null }) {
  const now = useNow(60_000);
  if (at === null) return <span class="dim">never</span>;
  return now - Date.parse(at) < 3_600_000 ? <span>in the last hour</span> : <Time at={at} form="relative" />;
}

interface Cap {
  readonly name: string;
  readonly spent: number;
  readonly cap: number;
}

const capsOf = (key: KeyView): readonly Cap[] =>
  [
    { name: 'today', spent: key.spent_today, cap: key.daily_cap },
    { name: 'this month', spent: key.spent_this_month, cap: key.monthly_cap },
    { name: 'in total', spent: key.spent_total, cap: key.total_cap },
  ].filter((one): one is Cap => one.cap !== null);

/** What a key spent of each of its caps, as bars. A key without a cap shows what it spent this month. */
export function KeyCaps({ of: key }: { of: KeyView }) {
  const caps = capsOf(key);
  return (
    <div class="caps">
      {caps.length === 0 && (
        <p>
          <Money of={key.spent_this_month} /> <span class="dim">this month</span>
        </p>
      )}
      {caps.map(({ name, spent, cap }) => (
        <div key={name}>
          <p>
            <Money of={spent} />{' '}
            <span class="dim">
              of {money(cap)} {name}
            </span>
          </p>
          <Meter share={cap === 0 ? 1 : spent / cap} label={`${money(spent)} of ${money(cap)} ${name}`} />
        </div>
      ))}
      {key.per_user_monthly_cap !== null && (
        <p class="dim">{money(key.per_user_monthly_cap)} a month for each user</p>
      )}
    </div>
  );
}

import type { KeyView } from '../../../../service/contract/portal-views.ts';
import { Meter, Money } from '../../ui/basics.tsx';
import { money } from '../../words/money.ts';

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

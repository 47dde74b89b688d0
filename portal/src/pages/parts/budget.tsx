/** The budget of a month: how much of it is spent, and how far the month will go. */
import type { UsageView } from '../../../../service/contract/portal-views.ts';
import { useAction } from '../../api/hooks.ts';
import { useKept } from '../../kept.ts';
import { useMay } from '../../session.tsx';
import { Badge, Button, Card, Meter, Money } from '../../ui/basics.tsx';
import { Amount, Form, useDraft } from '../../ui/form.tsx';
import { announce, Dialog } from '../../ui/page.tsx';
import { money, parseAmount } from '../../words/figures.ts';

/** From this share on a budget is nearly used up, as a cap of a key is. */
const near = 0.8;

/** The warning about a budget. Undefined: none. */
export function budgetWords(spent: number, budget: number, atEnd: number | null): string | undefined {
  if (spent >= budget) return 'The budget of the month is used up.';
  if (spent >= budget * near)
    return `${Math.floor((spent / budget) * 100)} % of the month’s budget is spent.`;
  return atEnd !== null && atEnd > budget ? 'At this pace the month exceeds its budget.' : undefined;
}

type Month = UsageView['month'];

export function BudgetCard({ of, onReload }: { of: Month; onReload: () => void }) {
  const { spent, at_end: atEnd, budget } = of;
  const amount = budget.monthly_budget;
  const mayChange = useMay('setBudget');
  const [isOpen, setOpen] = useKept('budget', false);
  const save = useAction('setBudget', () => {
    setOpen(false);
    onReload();
    announce('The budget is saved.');
  });
  if (amount === null && !mayChange) return null;
  const words = amount === null ? undefined : budgetWords(spent, amount, atEnd);
  return (
    <Card
      title="Budget of the month"
      actions={mayChange && <Button text="Change the budget" class="small" onClick={() => setOpen(true)} />}
    >
      {amount === null ? (
        <p class="dim">No budget.</p>
      ) : (
        <>
          <p>
            <Money of={spent} /> <span class="dim">of {money(amount)}</span>{' '}
            {words !== undefined && <Badge tone={spent >= amount ? 'bad' : 'warn'}>{words}</Badge>}
          </p>
          <Meter share={spent / amount} label={`${money(spent)} of ${money(amount)} this month`} />
        </>
      )}
      {isOpen && (
        <Dialog
          title="Budget of the month"
          onClose={() => {
            setOpen(false);
            save.clear();
          }}
        >
          <BudgetForm of={budget} action={save} onReload={onReload} />
        </Dialog>
      )}
    </Card>
  );
}

function BudgetForm(props: {
  of: Month['budget'];
  action: ReturnType<typeof useAction<'setBudget'>>;
  onReload: () => void;
}) {
  const { of, action, onReload } = props;
  const stored = { budget: of.monthly_budget === null ? '' : String(of.monthly_budget) };
  const draft = useDraft('budget', stored, (_, value) => (value === '' ? 'none' : money(Number(value))));
  const amount = parseAmount(draft.values.budget);
  const isWrong = amount === undefined || amount === 0;
  return (
    <Form
      submit="Save"
      action={action}
      isDisabled={isWrong || draft.isUndecided || draft.changed.budget === undefined}
      onReload={onReload}
      onSubmit={() => action.run({ body: { monthly_budget: amount ?? null, version: of.version } })}
    >
      <Amount
        label="Budget of a month (USD)"
        placeholder="None"
        value={draft.values.budget}
        onInput={(value) => draft.set('budget', value)}
        theirs={draft.theirs('budget')}
        hint="Notices come at 80 % and 100 %. Requests are refused only by caps of keys."
        error={isWrong ? 'An amount such as 25 or 0.50.' : action.error?.fields.get('monthly_budget')}
      />
    </Form>
  );
}

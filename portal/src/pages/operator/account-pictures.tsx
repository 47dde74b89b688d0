/** The addresses of an account's pictures: unguessable, or signed for some minutes. */
import { type ResultAccess, resultMinutes } from '../../../../service/contract/limits.ts';
import type { OperatedAccount } from '../../../../service/contract/portal-views.ts';
import type { Action } from '../../api/hooks.ts';
import { Button, Card, Facts } from '../../ui/basics.tsx';
import { Form, Select, Text, useDraft } from '../../ui/form.tsx';
import { Dialog } from '../../ui/page.tsx';

const { least, usual, most } = resultMinutes;
const names = { '': 'Default of the service', unguessable: 'Unguessable', signed: 'Signed' } as const;
const minutesText = (minutes: number): string => `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;

/** The choice that this service cannot keep, and why. */
const refused = {
  off: { choice: 'signed', why: 'This service has no keys that sign addresses.' },
  signed: { choice: 'unguessable', why: 'This service signs the addresses of all accounts.' },
  unguessable: undefined,
} as const;

export function PicturesCard({ of, onChange }: { of: OperatedAccount; onChange: () => void }) {
  const { results, results_of_service: ofService, results_minutes: minutes } = of;
  const isSigned = ofService === 'signed' || (ofService === 'unguessable' && results === 'signed');
  const access: ResultAccess = isSigned ? 'signed' : 'unguessable';
  return (
    <Card
      title="Addresses of pictures"
      actions={<Button text="Change addresses" class="small" onClick={onChange} />}
    >
      <Facts
        rows={[
          [
            'New pictures',
            `${names[access]}, ${results === access ? 'chosen for this account' : 'as the service has it'}`,
          ],
          ['Lifetime of a signed address', minutesText(minutes ?? usual)],
        ]}
      />
    </Card>
  );
}

export function PicturesDialog(props: {
  of: OperatedAccount;
  action: Action<'changeAccount'>;
  onReload: () => void;
  onClose: () => void;
}) {
  const { of, action, onReload, onClose } = props;
  const stored = {
    results: of.results ?? ('' as const),
    minutes: of.results_minutes === null ? '' : String(of.results_minutes),
  };
  const { values, changed, set, theirs, isUndecided } = useDraft<{
    results: keyof typeof names;
    minutes: string;
  }>(`pictures ${of.id}`, stored, (name, value) =>
    name === 'results' ? names[value as keyof typeof names] : value || `${usual}, as usual`,
  );
  const text = values.minutes.trim();
  const isMinutes = text === '' || (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most);
  const cannot = refused[of.results_of_service];
  const fields = action.error?.fields;
  return (
    <Dialog title="Addresses of pictures" onClose={onClose}>
      <Form
        submit="Save"
        action={action}
        isDisabled={!isMinutes || isUndecided || Object.keys(changed).length === 0}
        onCancel={onClose}
        onReload={onReload}
        onSubmit={() =>
          action.run({
            id: of.id,
            body: {
              ...(changed.results !== undefined && { results: changed.results || null }),
              ...(changed.minutes !== undefined && { results_minutes: text === '' ? null : Number(text) }),
              version: of.version,
            },
          })
        }
      >
        <p>
          Everybody who has an unguessable address can open its picture. A signed address expires, and each
          read returns a new one. Existing creations keep their kind of address.
        </p>
        <Select
          label="New pictures"
          value={values.results}
          options={Object.entries(names)
            .filter(([value]) => value !== cannot?.choice || value === of.results)
            .map(([value, label]) => ({ value, label }))}
          onChange={(value) => set('results', value as keyof typeof names)}
          hint={cannot?.why}
          error={fields?.get('results')}
          theirs={theirs('results')}
        />
        <Text
          label="Minutes of a signed address"
          hint={`Up to ${most} (7 days). Empty: ${usual}.`}
          inputMode="numeric"
          placeholder={String(usual)}
          value={values.minutes}
          onInput={(value) => set('minutes', value)}
          error={isMinutes ? fields?.get('results_minutes') : `A whole number from ${least} to ${most}.`}
          theirs={theirs('minutes')}
        />
      </Form>
    </Dialog>
  );
}

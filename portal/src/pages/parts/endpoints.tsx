/** The endpoints of the account, with the outcomes of their attempts, and the dialogs that change them. */
import type { EndpointBody, EndpointRow, EndpointsView } from '../../../../service/contract/portal-views.ts';
import { type Resource, useAction } from '../../api/hooks.ts';
import { useKept } from '../../kept.ts';
import { href } from '../../router.ts';
import { useMay } from '../../session.tsx';
import { Badge, Button, Card, Clip, Meter, Time } from '../../ui/basics.tsx';
import { Form, type FormAction, Text, useDraft } from '../../ui/form.tsx';
import { announce, Dialog } from '../../ui/page.tsx';
import { Empty, Failed, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

/** The dialog over the card. An empty id: of an endpoint that does not exist yet. */
interface Open {
  readonly id: string;
  /** True: the dialog confirms a deletion. */
  readonly isEnd?: boolean;
}

export function Endpoints({ of: endpoints }: { of: Resource<EndpointsView> }) {
  const mayChange = useMay('addEndpoint');
  const [open, setOpen] = useKept<Open | undefined>('endpoint', undefined);
  const done = (words: string): void => {
    announce(`The endpoint is ${words}.`);
    setOpen(undefined);
    endpoints.reload();
  };
  const add = useAction('addEndpoint', () => done('added'));
  const change = useAction('changePortalEndpoint', () => done('changed'));
  const remove = useAction('removeEndpoint', () => done('deleted'));
  const show = (next?: Open): void => {
    change.clear();
    remove.clear();
    setOpen(next);
  };
  const buttonsOf = (row: EndpointRow) => {
    const { id, enabled } = row;
    const buttons: readonly (readonly [string, () => void])[] = [
      [enabled ? 'Switch off' : 'Switch on', () => change.run({ id, body: { enabled: !enabled } })],
      ['Change', () => show({ id })],
      ['Delete', () => show({ id, isEnd: true })],
    ];
    return (
      <div class="row-actions">
        {buttons.map(([text, onClick]) => (
          <Button key={text} text={text} aria-label={`${text} ${row.url}`} class="small" onClick={onClick} />
        ))}
      </div>
    );
  };
  return (
    <Card
      title="Endpoints"
      actions={
        mayChange && (
          <Button
            text="Add an endpoint"
            class="small"
            disabled={endpoints.data?.data.length === endpoints.data?.limit}
            onClick={() => show({ id: '' })}
          />
        )
      }
    >
      {change.error && !open && <Failed error={change.error} />}
      <Loaded of={endpoints}>
        {({ data, samples }) => (
          <>
            {data.length === 0 ? (
              <Empty title="No endpoint yet">
                An endpoint gets the events of each creation whose request names no webhook_url.
              </Empty>
            ) : (
              <Table
                caption="Endpoints"
                rows={data}
                stacks
                keyOf={({ id }) => id}
                columns={[
                  ['Address', (row) => <Address of={row} />, 'sentence'],
                  ['24 hours', (row) => <Attempts of={row} />],
                  ['State', (row) => <State of={row} />],
                  ['Actions', (row) => mayChange && buttonsOf(row), 'actions'],
                ]}
              />
            )}
            {open && !open.isEnd && (
              <EditDialog
                key={open.id}
                of={data.find(({ id }) => id === open.id)}
                events={Object.keys(samples)}
                action={open.id === '' ? add : change}
                onClose={() => show()}
                onSubmit={(body, all) =>
                  open.id === '' ? add.run({ body: all }) : change.run({ id: open.id, body })
                }
              />
            )}
            {open?.isEnd && (
              <Dialog title="Delete the endpoint" onClose={() => show()}>
                <Form
                  submit="Delete the endpoint"
                  isDangerous
                  action={remove}
                  onCancel={() => show()}
                  onSubmit={() => remove.run({ id: open.id })}
                >
                  <p>
                    <Clip text={data.find(({ id }) => id === open.id)?.url ?? ''} /> gets nothing more. Its
                    deliveries stay in the log.
                  </p>
                </Form>
              </Dialog>
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}

function Address({ of: { url, description, events } }: { of: EndpointRow }) {
  return (
    <>
      <Clip text={url} />
      {description && <p>{description}</p>}
      <p class="dim">{events.join(', ')}</p>
    </>
  );
}

function Attempts({ of: { id, delivered, failed, last_failure: last } }: { of: EndpointRow }) {
  const all = delivered + failed;
  const words = `${delivered} of ${all} delivered`;
  return (
    <>
      <Meter share={all && delivered / all} label={words} isGood />{' '}
      <a href={href(`/deliveries?endpoint=${id}`)}>{words}</a>
      {last && (
        <p class="dim">
          <Time at={last.at} /> {last.reason}
        </p>
      )}
    </>
  );
}

function State({ of: { enabled, disabled_reason: reason, failing_since: since } }: { of: EndpointRow }) {
  return (
    <>
      <Badge tone={since !== null ? 'bad' : enabled ? 'good' : 'calm'}>
        {enabled ? 'on' : reason === null ? 'off' : 'off after five days of failures'}
      </Badge>
      {since !== null && (
        <>
          {' '}
          failing since <Time at={since} />
        </>
      )}
    </>
  );
}

function EditDialog(props: {
  of: EndpointRow | undefined;
  events: readonly string[];
  action: FormAction;
  onClose: () => void;
  onSubmit: (changed: Partial<EndpointBody>, all: EndpointBody) => void;
}) {
  const { of, events: known, action, onClose, onSubmit } = props;
  const { id = '', url = '', description = '' } = of ?? {};
  const { events = known.filter((name) => name.startsWith('creation.')) } = of ?? {};
  const draft = useDraft(`endpoint ${id}`, { url, description, events }, (_name, value) => String(value));
  const { values, changed, set, theirs } = draft;
  const asked = values.events;
  const title = of ? 'Change the endpoint' : 'Add an endpoint';
  const fields = action.error?.fields;
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        submit={of ? 'Save' : title}
        action={action}
        isDisabled={asked.length === 0 || Object.keys(changed).length === 0 || draft.isUndecided}
        onCancel={onClose}
        onSubmit={() => onSubmit(changed, { ...values, enabled: true })}
      >
        <Text
          label="Address"
          type="url"
          inputMode="url"
          value={values.url}
          onInput={(text) => set('url', text.trim())}
          theirs={theirs('url')}
          placeholder="https://example.com/hooks"
          isRequired
          error={fields?.get('url')}
        />
        <Text
          label="Description"
          value={values.description}
          onInput={(text) => set('description', text)}
          theirs={theirs('description')}
          maxLength={200}
          error={fields?.get('description')}
        />
        <fieldset>
          <legend>Events</legend>
          {known.map((name) => (
            <label class="check" key={name}>
              <input
                type="checkbox"
                checked={asked.includes(name)}
                onChange={() =>
                  set(
                    'events',
                    known.filter((one) => (one === name) !== asked.includes(one)),
                  )
                }
              />{' '}
              {name}
            </label>
          ))}
        </fieldset>
      </Form>
    </Dialog>
  );
}

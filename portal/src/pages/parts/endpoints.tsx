/** The endpoints of the account: added, changed, switched on and off, deleted. */
import { useState } from 'preact/hooks';
import type { EndpointRow, EndpointsView } from '../../../../service/contract/portal-views.ts';
import { useAction, useResource } from '../../api/hooks.ts';
import { useMay } from '../../session.tsx';
import { Badge, Button, Card, Clip, Meter, Time } from '../../ui/basics.tsx';
import { Form, Text, useDraft } from '../../ui/form.tsx';
import { announce, Dialog } from '../../ui/page.tsx';
import { Empty, Failed, Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

/** A dialog over the card. 'new': for an endpoint that does not exist yet. */
type Open =
  | { readonly does: 'edit'; readonly of: EndpointRow | 'new' }
  | { readonly does: 'delete'; readonly of: EndpointRow };

export function Endpoints() {
  const endpoints = useResource('listPortalEndpoints');
  const mayChange = useMay('addEndpoint');
  const [open, setOpen] = useState<Open>();
  const done = (words: string): void => {
    announce(words);
    setOpen(undefined);
    endpoints.reload();
  };
  const turn = useAction('changePortalEndpoint', () => done('The endpoint is changed.'));
  const { data } = endpoints;
  const isFull = data !== undefined && data.data.length >= data.limit;
  return (
    <Card
      title="Endpoints"
      id="endpoints"
      actions={
        mayChange && (
          <Button
            text="Add an endpoint"
            class="small"
            disabled={isFull}
            onClick={() => setOpen({ does: 'edit', of: 'new' })}
          />
        )
      }
    >
      <p>They get what they ask for, of every creation whose request names no webhook_url.</p>
      {turn.error && <Failed error={turn.error} />}
      <Loaded of={endpoints} rows={2}>
        {({ data: rows, events }) => (
          <>
            {rows.length === 0 ? (
              <Empty title="No endpoint yet" />
            ) : (
              <Table
                caption="Endpoints"
                stacks
                rows={rows}
                keyOf={({ id }) => id}
                columns={[
                  ['Address', (row) => <Address of={row} />],
                  ['State', (row) => <State of={row} />],
                  ['Last 24 hours', (row) => <Success of={row} />],
                  ['Last failure', (row) => <LastFailure of={row} />, 'wide'],
                  ...(mayChange
                    ? [
                        [
                          'Actions',
                          (row: EndpointRow) => (
                            <>
                              <Button
                                text={row.enabled ? 'Switch off' : 'Switch on'}
                                aria-label={`${row.enabled ? 'Switch off' : 'Switch on'} ${row.url}`}
                                class="small"
                                isBusy={turn.isBusy}
                                onClick={() => turn.run({ id: row.id, body: { enabled: !row.enabled } })}
                              />
                              <Button
                                text="Edit"
                                aria-label={`Edit ${row.url}`}
                                class="small"
                                onClick={() => setOpen({ does: 'edit', of: row })}
                              />
                              <Button
                                text="Delete"
                                aria-label={`Delete ${row.url}`}
                                class="small"
                                onClick={() => setOpen({ does: 'delete', of: row })}
                              />
                            </>
                          ),
                          'actions',
                        ] as const,
                      ]
                    : []),
                ]}
              />
            )}
            {open?.does === 'edit' && (
              <EditDialog of={open.of} events={events} onDone={done} onClose={() => setOpen(undefined)} />
            )}
            {open?.does === 'delete' && (
              <DeleteDialog of={open.of} onDone={done} onClose={() => setOpen(undefined)} />
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
      {description !== '' && <p>{description}</p>}
      <p class="dim">{events.join(', ')}</p>
    </>
  );
}

function State({ of: { enabled, disabled_reason: reason, failing_since: since } }: { of: EndpointRow }) {
  if (enabled && since !== null)
    return (
      <>
        <Badge tone="bad">failing</Badge> since <Time at={since} />
      </>
    );
  if (enabled) return <Badge tone="good">on</Badge>;
  return (
    <Badge tone={reason === null ? 'calm' : 'bad'}>
      {reason === null ? 'off' : 'off after five days of failures'}
    </Badge>
  );
}

function Success({ of: { delivered, failed } }: { of: EndpointRow }) {
  const all = delivered + failed;
  if (all === 0) return <span class="dim">nothing was sent</span>;
  const words = `${delivered} of ${all} attempts delivered`;
  return (
    <>
      <Meter share={delivered / all} label={words} isGood={delivered === all} />
      {words}
    </>
  );
}

function LastFailure({ of: { last_failure: last } }: { of: EndpointRow }) {
  if (last === null) return <span class="dim">none</span>;
  return (
    <>
      <Time at={last.at} /> {last.reason}
    </>
  );
}

interface Values {
  readonly url: string;
  readonly description: string;
  readonly events: readonly string[];
}

function EditDialog(props: {
  of: EndpointRow | 'new';
  events: EndpointsView['events'];
  onDone: (words: string) => void;
  onClose: () => void;
}) {
  const { of, events, onDone, onClose } = props;
  const stored: Values =
    of === 'new'
      ? { url: '', description: '', events: events.filter((name) => name.startsWith('creation.')) }
      : of;
  const { url, description, events: asked } = stored;
  const draft = useDraft(
    `endpoint ${of === 'new' ? '' : of.id}`,
    { url, description, events: asked },
    (_name, value) => String(value),
  );
  const add = useAction('addEndpoint', () => onDone('The endpoint is added.'));
  const change = useAction('changePortalEndpoint', () => onDone('The endpoint is changed.'));
  const action = of === 'new' ? add : change;
  const { values, changed } = draft;
  const turn = (name: string): void =>
    draft.set(
      'events',
      events.filter((one) => (one === name) !== values.events.includes(one)),
    );
  return (
    <Dialog title={of === 'new' ? 'Add an endpoint' : 'Edit the endpoint'} onClose={onClose}>
      <Form
        submit={of === 'new' ? 'Add the endpoint' : 'Save'}
        action={action}
        isDisabled={
          values.url.trim() === '' ||
          values.events.length === 0 ||
          (of !== 'new' && Object.keys(changed).length === 0)
        }
        onCancel={onClose}
        onSubmit={() =>
          of === 'new'
            ? add.run({ body: { ...values, url: values.url.trim(), enabled: true } })
            : change.run({ id: of.id, body: changed })
        }
      >
        <Text
          label="Address"
          type="url"
          inputMode="url"
          value={values.url}
          onInput={(text) => draft.set('url', text)}
          placeholder="https://example.com/hooks"
          isRequired
          error={action.error?.fields.get('url')}
        />
        <Text
          label="Description"
          value={values.description}
          maxLength={200}
          onInput={(text) => draft.set('description', text)}
          error={action.error?.fields.get('description')}
        />
        <fieldset>
          <legend>What the endpoint gets</legend>
          {events.map((name) => (
            <label class="check" key={name}>
              <input type="checkbox" checked={values.events.includes(name)} onChange={() => turn(name)} />{' '}
              {name}
            </label>
          ))}
        </fieldset>
      </Form>
    </Dialog>
  );
}

function DeleteDialog(props: { of: EndpointRow; onDone: (words: string) => void; onClose: () => void }) {
  const { of, onDone, onClose } = props;
  const remove = useAction('removeEndpoint', () => onDone('The endpoint is deleted.'));
  return (
    <Dialog title="Delete the endpoint" onClose={onClose}>
      <Form
        submit="Delete the endpoint"
        action={remove}
        onCancel={onClose}
        onSubmit={() => remove.run({ id: of.id })}
      >
        <p>
          <Clip text={of.url} /> gets nothing more. Its deliveries stay in the log.
        </p>
      </Form>
    </Dialog>
  );
}

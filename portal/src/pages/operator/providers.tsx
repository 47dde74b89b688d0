import { useResource } from '../../api/hooks.ts';
import { Badge, Meter } from '../../ui/basics.tsx';
import { Page } from '../../ui/page.tsx';
import { Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

export function Providers() {
  const providers = useResource('listProviders');
  return (
    <Page
      title="Providers"
      above="Operator"
      lead="How the attempts of the newest creations went. What a vendor declined, and what was cancelled, does not count against it."
    >
      <Loaded of={providers}>
        {({ data }) => (
          <Table
            caption="Providers"
            rows={data}
            keyOf={({ name }) => name}
            columns={[
              { head: 'Provider', cell: ({ name }) => <strong>{name}</strong> },
              {
                head: 'State',
                cell: ({ enabled }) =>
                  enabled ? <Badge tone="good">enabled</Badge> : <Badge tone="calm">no key</Badge>,
              },
              { head: 'Attempts', isNumber: true, isWide: true, cell: ({ attempts }) => attempts },
              {
                head: 'Succeeded',
                cell: ({ succeeded, failed }) => <Succeeded succeeded={succeeded} of={succeeded + failed} />,
              },
              {
                head: 'Other outcomes',
                isWide: true,
                cell: ({ outcomes }) =>
                  Object.entries(outcomes)
                    .map(([name, count]) => `${name} ${count}`)
                    .join(', ') || <span class="dim">none</span>,
              },
              {
                head: 'Median',
                isNumber: true,
                cell: ({ p50_seconds: seconds }) => (seconds === null ? '–' : `${seconds.toFixed(1)} s`),
              },
            ]}
          />
        )}
      </Loaded>
    </Page>
  );
}

function Succeeded({ succeeded, of }: { succeeded: number; of: number }) {
  if (of === 0) return <span class="dim">–</span>;
  return (
    <>
      {((succeeded / of) * 100).toFixed(0)} %
      <Meter isGood share={succeeded / of} label={`${succeeded} of ${of} succeeded`} />
    </>
  );
}

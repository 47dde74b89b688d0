import { useResource } from '../../api/hooks.ts';
import { Badge, Meter } from '../../ui/basics.tsx';
import { Page } from '../../ui/page.tsx';
import { Loaded } from '../../ui/states.tsx';
import { Table } from '../../ui/table.tsx';

export function Providers() {
  const providers = useResource('listProviders');
  return (
    <Page title="Providers" above="Operator" lead="How the attempts of the newest creations went.">
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
                cell: ({ attempts, succeeded }) =>
                  attempts === 0 ? (
                    <span class="dim">–</span>
                  ) : (
                    <>
                      {((succeeded / attempts) * 100).toFixed(0)} %
                      <Meter
                        isGood
                        share={succeeded / attempts}
                        label={`${succeeded} of ${attempts} succeeded`}
                      />
                    </>
                  ),
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

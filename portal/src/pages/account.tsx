import type { AccountView } from '../../../service/contract/portal-views.ts';
import { useResource } from '../api/hooks.ts';
import { useSession, OperatorContact } from '../session.tsx';
import { Badge, Card, Code, Facts, Id, Meter, Money, Time } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';

export function Account() {
  const account = useResource('getAccount');
  return (
    <Page title="Account">
      <Loaded of={account}>{(data) => <Content data={data} />}</Loaded>
    </Page>
  );
}

function Content({ data }: { data: AccountView }) {
  const { me } = useSession();
  const { limits, service } = data;
  return (
    <>
      <Card title={data.name}>
        <Facts
          rows={[
            ['Id', <Id of={data.id} label="the id of the account" />],
            [
              'Condition',
              <Badge tone={data.condition === 'active' ? 'good' : 'warn'}>{data.condition}</Badge>,
            ],
            ['Created', <Time at={data.created_at} />],
            [
              'You',
              <>
                {me.person.email}
                {me.account && `, ${me.account.role}`}
              </>,
            ],
            me.service.credentials_url !== null && [
              'Passkeys and password',
              <a href={me.service.credentials_url} target="_blank" rel="noreferrer">
                Manage them where you sign in
              </a>,
            ],
          ]}
        />
      </Card>
      <Card title="Limits">
        <Facts
          rows={[
            [
              'In flight',
              <>
                {data.in_flight} of {limits.max_concurrent}
                <Meter
                  share={limits.max_concurrent === 0 ? 1 : data.in_flight / limits.max_concurrent}
                  label={`${data.in_flight} of ${limits.max_concurrent} in flight`}
                />
              </>,
            ],
            ['POST requests', <>{limits.post_rate} a minute</>],
            ['GET requests', <>{limits.get_rate} a minute</>],
            ['Time limit of a creation', <>{limits.deadline_seconds} s</>],
            ['Unused uploads', limits.max_unused_uploads],
          ]}
        />
        <p class="dim">The operator changes limits.</p>
      </Card>
      <Card title="Service">
        <Facts
          rows={[
            [
              'Status',
              service.is_closed ? (
                <Badge tone="warn">closed: accepts no new creations</Badge>
              ) : service.open_creations < service.capacity ? (
                <Badge tone="good">accepts creations</Badge>
              ) : (
                <Badge tone="warn">full: new creations wait</Badge>
              ),
            ],
            [
              'Open creations of all clients',
              <>
                {service.open_creations.toLocaleString('en-US')} of {service.capacity.toLocaleString('en-US')}
                <Meter
                  share={service.capacity === 0 ? 1 : service.open_creations / service.capacity}
                  label={`${service.open_creations} of ${service.capacity} open`}
                />
              </>,
            ],
          ]}
        />
        <Facts
          rows={[
            ['API', <Code text={me.service.api_url} label="the address of the API" />],
            [
              'Base URL for OpenAI libraries',
              <Code text={me.service.openai_url} label="the base URL for OpenAI libraries" />,
            ],
            [
              'MCP server for agents',
              <Code text={me.service.mcp_url} label="the address of the MCP server" />,
            ],
          ]}
        />
        <p class="text">
          <OperatorContact />
        </p>
      </Card>
      <Card title="Models">
        <Table
          caption="Models of the account"
          rows={data.models}
          keyOf={({ id }) => id}
          columns={[
            [
              'Model',
              (model) => (
                <>
                  <strong>{model.name}</strong>
                  <br />
                  <code class="dim">{model.id}</code>
                </>
              ),
            ],
            [
              'Prices',
              ({ prices }) =>
                Object.entries(prices).map(([resolution, price]) => (
                  <p key={resolution}>
                    <span class="dim">{resolution}</span> <Money of={price} />
                  </p>
                )),
            ],
            [
              'Source images',
              (model) =>
                model.max_source_images === 0 ? (
                  <span class="dim">none</span>
                ) : (
                  <>
                    {model.max_source_images}, each <Money of={model.price_per_source_image} />
                  </>
                ),
              'wide',
            ],
            ['Aspect ratios', (model) => model.aspect_ratios.join(' '), 'wide'],
            ['Formats', (model) => model.output_formats.join(', '), 'wide'],
          ]}
        />
      </Card>
    </>
  );
}

import type { KeyDetail, TokenRow } from '../../../service/contract/portal-views.ts';
import { useResource } from '../api/hooks.ts';
import { href } from '../router.ts';
import { Badge, Card, Clip, Facts, Meter, Money, Time } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Table } from '../ui/table.tsx';
import { money } from '../words/figures.ts';
import { KeyCaps, KeyState, LastUse } from './parts/key-words.tsx';

/** One key, and what the tokens that it minted for people in a browser spent. */
export function OneKey({ id }: { id: string }) {
  const detail = useResource('showKey', { id });
  return (
    <Page title={detail.data?.key.name ?? 'Key'} above={<a href={href('/keys')}>Keys</a>}>
      <Loaded of={detail}>{(data) => <Content of={data} />}</Loaded>
    </Page>
  );
}

function Content({ of: { key, ...minted } }: { of: KeyDetail }) {
  return (
    <>
      <Card>
        <Facts
          across
          rows={[
            ['State', <KeyState of={key} />],
            ['Spent', <KeyCaps of={key} />],
            ['Models', key.models?.join(', ') ?? 'all'],
            ['Last used', <LastUse at={key.last_used_at} />],
            ['Created', <Time at={key.created_at} />],
          ]}
        />
      </Card>
      <Tokens of={minted} />
    </>
  );
}

function Tokens({ of }: { of: Omit<KeyDetail, 'key'> }) {
  const { tokens, token_count: total, tokens_spent: spent, has_all_tokens: hasAll } = of;
  if (tokens.length === 0)
    return (
      <Empty title="No token in the last day">
        <p>Your server mints a token with this key, so that a browser or an app can make images.</p>
      </Empty>
    );
  return (
    <Card title="Tokens">
      <p>
        {hasAll ? '' : 'More than '}
        {total.toLocaleString('en')} {total === 1 ? 'token' : 'tokens'} of the last day spent{' '}
        <Money of={spent} />.{total > tokens.length && ` The table has the last ${tokens.length}.`}
      </p>
      <Table
        caption="Tokens of the last day, the latest end first"
        rows={tokens}
        keyOf={({ id }) => id}
        columns={[
          ['User', ({ user }) => <Clip text={user} />],
          ['State', (token) => <TokenState of={token} />],
          ['Spent', (token) => <Spent of={token} />],
          ['Creations', ({ uses, max_uses: most }) => `${uses} of ${most}`, 'number'],
          ['Token', ({ id }) => <code class="dim">{id}</code>, 'wide'],
        ]}
      />
    </Card>
  );
}

function Spent({ of: { spent, spend_limit: limit } }: { of: TokenRow }) {
  return (
    <>
      <Money of={spent} /> <span class="dim">of {money(limit)}</span>
      <Meter share={spent / limit} label={`${money(spent)} of ${money(limit)}`} />
    </>
  );
}

function TokenState({ of: { revoked_at: revokedAt, expires_at: expiresAt } }: { of: TokenRow }) {
  if (revokedAt !== null) return <Badge tone="calm">revoked</Badge>;
  const isOver = Date.parse(expiresAt) <= Date.now();
  return (
    <>
      <Badge tone={isOver ? 'calm' : 'good'}>{isOver ? 'expired' : 'active'}</Badge>{' '}
      <span class="dim">
        {isOver ? 'ended' : 'ends'} <Time at={expiresAt} form="relative" />
      </span>
    </>
  );
}

/** A new key, which is shown once. */
import { useId, useState } from 'preact/hooks';
import type { CreatedKeyView } from '../../../../service/contract/portal-views.ts';
import { useSession } from '../../session.ts';
import { Code, Copy, Time } from '../../ui/basics.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import type { GenerateBody } from '../../../../service/contract/portal-calls.ts';
import { requestSnippets } from '../../words/snippets.ts';

/** A first request in each language, with the key filled in. */
export function RequestSnippets({ apiKey, body }: { apiKey: string; body?: GenerateBody }) {
  const { me } = useSession();
  const asked = body ?? { model: 'sandbox-sketch', prompt: 'a lighthouse in a storm' };
  return (
    <Tabs
      label="Language"
      tabs={requestSnippets(me.service, apiKey, asked).map(({ name, text }) => ({
        name,
        content: <Code text={text} label={`the request in ${name}`} />,
      }))}
    />
  );
}

export function ShownKey({
  of: { key, replaced_until: replacedUntil },
  onStored,
}: {
  of: CreatedKeyView;
  onStored: () => void;
}) {
  const [isStored, setStored] = useState(false);
  const id = useId();
  return (
    <>
      <p>
        <strong>Store the key now.</strong> It is shown this once; the service keeps a hash of it alone.
      </p>
      <div class="secret">
        <code>{key}</code>
        <Copy text={key} label="the key" />
      </div>
      {replacedUntil !== undefined && (
        <p>
          The replaced key works until <Time at={replacedUntil} />.
        </p>
      )}
      <RequestSnippets apiKey={key} />
      <div class="stored">
        <p class="check">
          <input
            type="checkbox"
            id={id}
            checked={isStored}
            onChange={(event) => setStored(event.currentTarget.checked)}
          />
          <label for={id}>I have stored it</label>
        </p>
        <button type="button" class="primary" disabled={!isStored} onClick={onStored}>
          Done
        </button>
      </div>
    </>
  );
}

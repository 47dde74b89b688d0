import { useAction, useNow, useResource } from '../api/hooks.ts';
import { go, href } from '../router.ts';
import { useMay } from '../session.ts';
import { announce } from '../ui/announce.tsx';
import { Badge, Card, Fact, Facts, Id, Time } from '../ui/basics.tsx';
import { Page } from '../ui/page.tsx';
import { Failed, Loaded } from '../ui/states.tsx';
import { durationText, isAhead } from '../words/time.ts';
import { DeliveryParts, DeliveryState } from './parts/delivery-parts.tsx';

export function Delivery({ id }: { id: string }) {
  const delivery = useResource('getDelivery', { id });
  const mayRedeliver = useMay('redeliverCreation');
  const redeliver = useAction('redeliverCreation', () => {
    announce('The webhook is delivered again.');
    const creation = delivery.data?.creation;
    go(creation === null || creation === undefined ? '/deliveries' : `/deliveries?creation=${creation}`);
  });
  const now = useNow(15_000);
  const { data } = delivery;
  const creation = data?.creation ?? null;
  return (
    <Page
      title="Delivery"
      above={<a href={href('/deliveries')}>Deliveries</a>}
      actions={
        mayRedeliver &&
        data?.can_redeliver === true &&
        creation !== null && (
          <button
            type="button"
            class="primary"
            aria-busy={redeliver.isBusy}
            onClick={() => redeliver.run({ id: creation })}
          >
            Redeliver
          </button>
        )
      }
    >
      {redeliver.error && <Failed error={redeliver.error} />}
      <Loaded of={delivery}>
        {(shown) => (
          <>
            {shown.reason !== null && <p class="notice bad">{shown.reason}</p>}
            <Card>
              <Facts across>
                <Fact name="Result">
                  <DeliveryState of={shown} /> {shown.is_test && <Badge tone="calm">test</Badge>}
                </Fact>
                <Fact name="Event">{shown.event}</Fact>
                <Fact name="Time">
                  <Time at={shown.at} form="full" />
                </Fact>
                <Fact name="Attempt">
                  {shown.attempt} of {shown.of}
                </Fact>
                <Fact name="Took">{shown.ms === null ? '–' : durationText(shown.ms)}</Fact>
                {isAhead(shown.next_attempt_at, now) && (
                  <Fact name="Next attempt">
                    <Time at={shown.next_attempt_at} form="relative" />
                  </Fact>
                )}
                {shown.creation !== null && (
                  <Fact name="Creation">
                    <a href={href(`/creations/${shown.creation}`)}>
                      <Id of={shown.creation} label="the id of the creation" plain />
                    </a>
                  </Fact>
                )}
              </Facts>
            </Card>
            <Card title="What was sent, and what came back">
              <DeliveryParts of={shown} />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}

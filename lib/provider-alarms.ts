/** The alarms of the vendors: rows of alarm-table.ts. */
import { inBothWindows, oneHour, share, type AlarmDefinition, type Watched } from './alarm-definition.ts';

export function providerAlarms({ metrics }: Watched): Readonly<Record<string, AlarmDefinition>> {
  const accepted = [metrics.of('CreationsAccepted')];
  return {
    ...inBothWindows(
      'ProvidersUnavailable',
      (window) => ({
        bad: [metrics.of('CreationsFailed', { ...window, by: { failure: 'ServiceUnavailable' } })],
        of: [metrics.of('CreationsAccepted', window)],
      }),
      {
        percent: 5,
        least: 5,
        meaning:
          'Creations fail with ServiceUnavailable: every provider of their models is down, throttles the service or refuses its key. Customers are refunded.',
        remedy:
          'Look at the answers by route on the dashboard and at the status pages of the providers. A further route in the catalog is the lasting solution.',
      },
    ),
    ProviderCredentialsRefused: {
      // A number and no share: with an open circuit only a few calls an hour reach the vendor.
      metric: metrics.alarms('provider_refused_credentials', oneHour.period),
      threshold: 3,
      meaning:
        'A provider answered 401, 402 or 403: your key or your credit is the cause. The next route renders its models. Without a next route, creations fail with ServiceUnavailable.',
      remedy: 'Renew the key or the credit at the provider that the log names.',
    },
    ProviderCircuitOpened: {
      // The circuit itself opens at a share: when half of the calls of a minute fail.
      metric: metrics.alarms('provider_circuit_opened'),
      threshold: 1,
      meaning:
        'Half of the calls of a route failed in a minute. Creations ask their other routes first. Creations of a model without another route take longer, or fail and are refunded.',
      remedy:
        'Run providers health, and look at the status page of the provider that the log names. Nothing has to be switched back. If the circuit opens again and again, remove the provider or change the order of the routes.',
    },
    ProviderAnswersUnknown: {
      ...share({
        bad: [metrics.alarms('provider_answer_unknown', oneHour.period)],
        of: accepted,
        percent: 0.5,
        least: 3,
        period: oneHour.period,
      }),
      meaning:
        'A provider gives answers that its adapter does not know, or no images that can be delivered. The creations failed with InternalFailure and were refunded.',
      remedy: 'Correct the adapter. The log names the provider, the model and the kind of answer (detail).',
    },
    ProviderCallsBreaking: {
      ...share({
        bad: [metrics.alarms('provider_call_broke', oneHour.period)],
        of: accepted,
        percent: 0.5,
        least: 3,
        period: oneHour.period,
      }),
      meaning:
        'Calls to a provider end in errors that its adapter did not expect. The creations failed with InternalFailure and were refunded.',
      remedy: 'Correct the adapter. The log names the provider and the error.',
    },
    CallbacksRefused: {
      ...share({ bad: [metrics.alarms('callback_refused')], of: accepted, percent: 1, least: 5 }),
      meaning:
        'Callbacks came to the right addresses, but were not signed by the vendor, or came from another account of the vendor. If they were genuine, customers of this vendor wait up to a minute longer.',
      remedy:
        'Read why in the log. Account: compare the account of the callbacks with the account of your key. Signature: check whether the vendor has changed its keys or its scheme. Time: check the clock of the vendor.',
    },
  };
}

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
          'Customers get "temporarily unavailable": no provider of their models takes orders. They are refunded.',
        remedy: 'Look at the outcomes by route on the dashboard and at the status pages of the providers.',
      },
    ),
    ProviderCredentialsRefused: {
      // A number and no share: behind an open circuit only a few calls an hour reach the vendor.
      metric: metrics.alarms('provider_refused_credentials', oneHour.period),
      threshold: 3,
      meaning:
        'A provider refuses our key or our bill; customers get its models from the next route or not at all.',
      remedy: 'Renew key or credit at the provider that the log names.',
    },
    ProviderCircuitOpened: {
      // The circuit itself opens at a share: when half of the calls of a minute fail.
      metric: metrics.alarms('provider_circuit_opened'),
      threshold: 1,
      meaning:
        'A provider fails: customers of its models wait a little longer, or get them from the next route. Without a next route their creations fail and are refunded.',
      remedy: 'Run `providers health`, and look at the status page of the provider that the log names.',
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
        'A provider gives answers that its adapter does not know, or no images that can be given out; the creations failed and were refunded.',
      remedy: 'Correct the adapter: the log names provider, model and the kind of answer.',
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
        'Calls to a provider end in errors that its adapter did not expect; the creations failed and were refunded.',
      remedy: 'Correct the adapter: the log names provider and error.',
    },
    CallbacksRefused: {
      ...share({ bad: [metrics.alarms('callback_refused')], of: accepted, percent: 1, least: 5 }),
      meaning:
        'Customers wait up to a minute longer: callbacks that came to the right address were not signed by the vendor, or came from another account of the vendor.',
      remedy:
        'Compare the account that the provider is pinned to with the account of its key; look whether the vendor has changed its keys.',
    },
  };
}

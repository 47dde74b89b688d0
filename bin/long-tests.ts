/**
 * The test files that `npm test` leaves to CI (`npm test -- --long`), so that a contributor waits about three
 * minutes. `npm test` keeps every file that needs no whole service, and with the whole service the path of a request:
 * the answer 202, the refusals, retries, a thousand requests at the same time, the end, the refund and the webhook.
 */

/** Each follows one feature through the whole service. The rules of the feature have tests in its own folder. */
const features = [
  'test/client/ai-sdk.test.ts',
  'test/client/bucket.test.ts',
  'test/client/command/bucket.test.ts',
  'test/client/command/commands.test.ts',
  'test/client/command/generate.test.ts',
  'test/client/command/listen.test.ts',
  'test/client/command/login.test.ts',
  'test/client/service.test.ts',
  'test/client/user-tokens.test.ts',
  'test/client/webhook-deliveries.test.ts',
  'test/docs/api-examples.test.ts',
  'test/examples/generate.test.ts',
  'test/examples/page.test.ts',
  'test/examples/webhook-receiver.test.ts',
  'test/operator/operator-api.test.ts',
  'test/vendors/whole/callbacks.test.ts',
  'test/vendors/whole/cancel.test.ts',
  'test/vendors/whole/content-credentials.test.ts',
  'test/vendors/whole/every-row.test.ts',
  'test/vendors/whole/operator.test.ts',
  'test/vendors/whole/own-comfyui.test.ts',
  'test/vendors/whole/own-gpu.test.ts',
  'test/whole/a-month-later.test.ts',
  'test/whole/burst-block.test.ts',
  'test/whole/clients/ai-library.test.ts',
  'test/whole/clients/broken-calls.test.ts',
  'test/whole/clients/openai-library.test.ts',
  'test/whole/clients/recipes.test.ts',
  'test/whole/count.test.ts',
  'test/whole/delete.test.ts',
  'test/whole/delete-results.test.ts',
  'test/whole/events.test.ts',
  'test/whole/held-share.test.ts',
  'test/whole/keep-prompts.test.ts',
  'test/whole/key-limits.test.ts',
  'test/whole/mcp/service.test.ts',
  // test/payments/worker.test.ts and audit.test.ts prove the same without a stack.
  'test/whole/payments.test.ts',
  'test/whole/prefer-wait.test.ts',
  'test/whole/provider-policy.test.ts',
  'test/whole/rare-fields.test.ts',
  'test/whole/request-log.test.ts',
  'test/whole/results-bucket.test.ts',
  'test/whole/sandbox.test.ts',
  'test/whole/signed-results.test.ts',
  'test/whole/strange-bodies.test.ts',
  'test/whole/thumbnails.test.ts',
  'test/whole/unavailable.test.ts',
  'test/whole/uploads.test.ts',
  'test/whole/user-tokens.test.ts',
  'test/whole/workflow/aws-calls.test.ts',
  'test/whole/workflow/endpoints.test.ts',
  'test/whole/workflow/messages.test.ts',
  'test/whole/workflow/notice-mails.test.ts',
  'test/whole/workflow/notices.test.ts',
  'test/whole/workflow/smoke.test.ts',
  'test/whole/workflow/webhook-reseal.test.ts',
];

/** Each runs commands of the operator against a whole service. Other files of test/admin do so in `npm test`. */
const commands = [
  'test/admin/backup-enter.test.ts',
  'test/admin/backup-verify.test.ts',
  'test/admin/creations-and-blocks.test.ts',
  'test/admin/erase.test.ts',
  // test/admin/evidence-rows.test.ts proves each row without a stack.
  'test/admin/evidence.test.ts',
  'test/admin/figures.test.ts',
  'test/admin/payments.test.ts',
  'test/admin/provider-pause.test.ts',
  'test/admin/result-keys.test.ts',
  'test/admin/route-health.test.ts',
  'test/local/wrong-catalog-or-settings.test.ts',
];

/** Each needs a browser. test/pages/pages.test.ts opens the main pages and uses them. */
const pages = [
  'test/pages/cockpit.test.ts',
  'test/pages/cockpit-walk.test.ts',
  'test/pages/every-page.test.ts',
  'test/pages/gallery.test.ts',
  'test/pages/generated-year.test.ts',
  'test/pages/pay-walk.test.ts',
  'test/pages/payments.test.ts',
  'test/pages/two-tabs.test.ts',
  'test/pages/whole-walk.test.ts',
  'test/pages/year-in-browser.test.ts',
];

/** Each starts, kills or moves real processes. The code that they run has tests without a process. */
const processes = [
  'test/local/task-tokens.test.ts',
  'test/serve/doors.test.ts',
  'test/serve/drill.test.ts',
  'test/serve/full-disk.test.ts',
  'test/serve/keeps.test.ts',
  'test/serve/move.test.ts',
  'test/serve/options.test.ts',
  'test/serve/power.test.ts',
  'test/serve/private-network.test.ts',
  'test/serve/serve.test.ts',
  'test/serve/walk.test.ts',
  'test/whole/workflow/kill.test.ts',
  'test/whole/workflow/local-process.test.ts',
];

/** Each takes many seeds, orders or records. `npm test` proves the same with fewer. */
const masses = [
  'test/api/refusal-storm.test.ts',
  'test/audit/large-books.test.ts',
  'test/client/storm.test.ts',
  'test/lab/simulation/cancels.test.ts',
  'test/lab/simulation/every-call-site.test.ts',
  'test/lab/simulation/load.test.ts',
  'test/lab/simulation/outage.test.ts',
  'test/lab/simulation/provider-down.test.ts',
  'test/lab/simulation/scale-long.test.ts',
  'test/portal/ranges-long.test.ts',
  'test/whole/concurrency-conflicts.test.ts',
  'test/whole/properties.test.ts',
];

/** Each compares with what a release or an earlier run stored, or packs or synthesizes once more. */
const releases = [
  // The tests' own template is the same without CDK's check. test/stack/versions.test.ts and others read it.
  'test/stack/synth.test.ts',
  'test/client/package.test.ts',
  'test/recorded/recorded.test.ts',
  'test/releases/stored-records.test.ts',
  'test/releases/take-over.test.ts',
  'test/stack/canary.test.ts',
  'test/stack/nag.test.ts',
  'test/stack/used-grants.test.ts',
  // test/stack/construct.test.ts proves the construct without bundles.
  'test/start/deployment.test.ts',
  'test/start/package.test.ts',
  'test/tables/leases/releases.test.ts',
];

export const longTests: readonly string[] = [
  ...features,
  ...commands,
  ...pages,
  ...processes,
  ...masses,
  ...releases,
];

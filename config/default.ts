/**
 * The settings of the default stage: what `cdk deploy` deploys and `npm start` runs. A
 * stage of its own is a file beside this one, deployed by `cdk deploy -c stage=NAME`.
 * docs/operations.md lists every setting.
 */
import type { SettingsInput } from '../lib/settings.ts';

const settings: SettingsInput = {};

export default settings;

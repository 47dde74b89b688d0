/**
 * The settings of the default stage, which `cdk deploy` deploys and `npm start` runs. Another stage is another file
 * in this folder; `cdk deploy -c stage=NAME` deploys lib/config/NAME.ts. docs/deploying.md lists every setting.
 */
import type { SettingsInput } from '../settings.ts';

const settings: SettingsInput = {};

export default settings;

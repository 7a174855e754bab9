/** Settings of the operator that have a flag of `lockstep install` too. */
import { ALL_SETTINGS } from '../../operator/configuration/setting-values.ts';

export const INSTALL_SETTINGS = ALL_SETTINGS.filter(([, { install }]) => install === true);

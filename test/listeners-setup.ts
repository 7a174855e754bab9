/**
 * Lets one signal end as much in a test as in a program: an operator subscribes more than ten handlers
 * until it stops. Far more than that is a leak, and Node.js says so.
 */
import { setMaxListeners } from 'node:events';

const MAX_LISTENERS_PER_SIGNAL = 100;

setMaxListeners(MAX_LISTENERS_PER_SIGNAL);

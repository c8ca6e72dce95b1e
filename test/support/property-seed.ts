/**
 * Sets one seed for all properties, so that every machine runs the same cases and a failure can be reproduced.
 *
 * `TRIHAND_SEED=<number>` runs other cases, `TRIHAND_SEED=random` new ones each time. A property may set its own.
 */
import fc from 'fast-check'

const asked = process.env['TRIHAND_SEED'] ?? '1'

if (asked !== 'random') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(asked) })

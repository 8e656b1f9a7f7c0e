/** The job of the model. */
export const jobName = 'model';
export const keyGroups = 8;

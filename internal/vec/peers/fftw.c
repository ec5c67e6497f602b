// Times FFTW's real transforms of float32, FFTW_PATIENT, one JSON line each.
//
//	cc -O2 fftw.c -o fftw -lfftw3f -lm && ./fftw
#include <fftw3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int compare(const void *a, const void *b) {
	double x = *(double *)a, y = *(double *)b;
	return (x > y) - (x < y);
}

static double measure(fftwf_plan p) {
	double t[5];
	for (int r = 0; r < 5; r++) {
		int turns = 0;
		double start = now(), took;
		do {
			for (int i = 0; i < 64; i++)
				fftwf_execute(p);
			turns += 64;
			took = now() - start;
		} while (took < 0.03);
		t[r] = took / turns;
	}
	qsort(t, 5, sizeof *t, compare);
	return 1e9 * t[2];
}

int main(int argc, char **argv) {
	const char *wisdom = argc > 1 ? argv[1] : "/tmp/fftw.wisdom";
	fftwf_import_wisdom_from_filename(wisdom);
	for (int n = 1024; n <= 16384; n *= 4) {
		float *x = fftwf_malloc(sizeof(float) * n);
		fftwf_complex *s = fftwf_malloc(sizeof(fftwf_complex) * (n / 2 + 1));
		fftwf_plan forward = fftwf_plan_dft_r2c_1d(n, x, s, FFTW_PATIENT);
		fftwf_plan inverse = fftwf_plan_dft_c2r_1d(n, s, x, FFTW_PATIENT);
		for (int i = 0; i < n; i++)
			x[i] = drand48() - 0.5;
		printf("{\"name\": \"rfft32\", \"shape\": \"%d\", \"value\": %.1f}\n", n, measure(forward));
		// c2r overwrites its input; zeros stay zeros.
		for (int i = 0; i <= n / 2; i++)
			s[i][0] = s[i][1] = 0;
		printf("{\"name\": \"irfft32\", \"shape\": \"%d\", \"value\": %.1f}\n", n, measure(inverse));
	}
	fftwf_export_wisdom_to_filename(wisdom);
	return 0;
}
